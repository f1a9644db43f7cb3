"""LibreOffice without a window, for scripts that use it as a person does."""
import contextlib, os, subprocess, time
import uno
from com.sun.star.connection import NoConnectException

@contextlib.contextmanager
def desktop(*options):
    """Its desktop, once it answers; it is ended behind."""
    pipe = f"kinvault{os.getpid()}"
    office = subprocess.Popen([
        "soffice", "--headless", "--norestore", "--nologo", "--nodefault", *options,
        f"--accept=pipe,name={pipe};urp"])
    resolver = uno.getComponentContext().ServiceManager.createInstance("com.sun.star.bridge.UnoUrlResolver")
    for _ in range(1500):
        try:
            context = resolver.resolve(f"uno:pipe,name={pipe};urp;StarOffice.ComponentContext")
            break
        except NoConnectException:
            assert office.poll() is None, "soffice ended"
            time.sleep(0.2)
    shown = context.ServiceManager.createInstance("com.sun.star.frame.Desktop")
    yield shown
    try:
        shown.terminate()
    except Exception:
        pass
    office.wait(300)
