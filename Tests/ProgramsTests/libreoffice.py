"""Edits the document in argv[1] as a person at LibreOffice does: open, type, save, close, open again. argv[2]: a scratch folder."""
import os, subprocess, sys, time
import uno
from com.sun.star.beans import PropertyValue
from com.sun.star.connection import NoConnectException

path, scratch = os.path.abspath(sys.argv[1]), sys.argv[2]
folder, name = os.path.split(path)
lock = os.path.join(folder, f".~lock.{name}#")
pipe = f"kinvault{os.getpid()}"
office = subprocess.Popen([
    "soffice", "--headless", "--norestore", "--nologo", "--nodefault",
    f"-env:UserInstallation={uno.systemPathToFileUrl(scratch)}", f"--accept=pipe,name={pipe};urp"])
resolver = uno.getComponentContext().ServiceManager.createInstance("com.sun.star.bridge.UnoUrlResolver")
for _ in range(300):
    try:
        context = resolver.resolve(f"uno:pipe,name={pipe};urp;StarOffice.ComponentContext")
        break
    except NoConnectException:
        assert office.poll() is None, "soffice ended"
        time.sleep(0.2)
desktop = context.ServiceManager.createInstance("com.sun.star.frame.Desktop")

def opened():
    document = desktop.loadComponentFromURL(uno.systemPathToFileUrl(path), "_blank", 0, ())
    assert document is not None and not document.isReadonly()
    assert os.path.exists(lock), "no lock file"
    return document

for sentence in ("First.", "Second.", "Third."):
    document = opened()
    document.Text.insertString(document.Text.End, f" {sentence}", False)
    assert document.isModified()
    document.store()
    assert not document.isModified()
    document.Text.insertString(document.Text.End, f" Twice {sentence}", False)
    document.store()
    document.close(True)
    assert not os.path.exists(lock), "the lock file stayed"
document = opened()
print(document.Text.String)
document.close(True)
try:
    desktop.terminate()
except Exception:
    pass
office.wait(60)
