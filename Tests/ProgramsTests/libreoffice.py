"""Edits the document in argv[1] as a person at LibreOffice does: open, type, save, close, open again. argv[2]: a scratch folder."""
import os, sys
import uno
from office import desktop

path, scratch = os.path.abspath(sys.argv[1]), sys.argv[2]
folder, name = os.path.split(path)
lock = os.path.join(folder, f".~lock.{name}#")

def opened(desktop):
    document = desktop.loadComponentFromURL(uno.systemPathToFileUrl(path), "_blank", 0, ())
    assert document is not None and not document.isReadonly()
    assert os.path.exists(lock), "no lock file"
    return document

with desktop(f"-env:UserInstallation={uno.systemPathToFileUrl(scratch)}") as shown:
    for sentence in ("First.", "Second.", "Third."):
        document = opened(shown)
        document.Text.insertString(document.Text.End, f" {sentence}", False)
        assert document.isModified()
        document.store()
        assert not document.isModified()
        document.Text.insertString(document.Text.End, f" Twice {sentence}", False)
        document.store()
        document.close(True)
        assert not os.path.exists(lock), "the lock file stayed"
    document = opened(shown)
    print(document.Text.String)
    document.close(True)
