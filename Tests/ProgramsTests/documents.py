"""Has LibreOffice open the documents in argv as a person does, one after the other, and end."""
import os, sys
import uno
from office import desktop

with desktop() as shown:
    for path in sys.argv[1:]:
        shown.loadComponentFromURL(uno.systemPathToFileUrl(os.path.abspath(path)), "_blank", 0, ()).close(True)
