import Glibc

/// Ends the process with what was printed written out, and nothing else.
///
/// Threads may still run then: a sync that took longer than an unmount waits, or one that lets go of its connection. `exit`
/// would tear down under them what libraries have set up, and end with a signal what had ended well.
///
/// - Parameter status: Of the process, 0 to 255.
func endProcess(_ status: Int32) -> Never {
  fflush(nil)
  _exit(status)
}
