"""Has LibreOffice open the documents in argv as a person does, one after the other, and end."""
import os, subprocess, sys, time
import uno
from com.sun.star.connection import NoConnectException

pipe = f"kinvault{os.getpid()}"
office = subprocess.Popen(
    ["soffice", "--headless", "--norestore", "--nologo", "--nodefault", f"--accept=pipe,name={pipe};urp"])
resolver = uno.getComponentContext().ServiceManager.createInstance("com.sun.star.bridge.UnoUrlResolver")
for _ in range(300):
    try:
        context = resolver.resolve(f"uno:pipe,name={pipe};urp;StarOffice.ComponentContext")
        break
    except NoConnectException:
        assert office.poll() is None, "soffice ended"
        time.sleep(0.2)
desktop = context.ServiceManager.createInstance("com.sun.star.frame.Desktop")
for path in sys.argv[1:]:
    desktop.loadComponentFromURL(uno.systemPathToFileUrl(os.path.abspath(path)), "_blank", 0, ()).close(True)
try:
    desktop.terminate()
except Exception:
    pass
office.wait(60)
