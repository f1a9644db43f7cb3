import Processes

extension ChildProcess {
  /// Starts a program with the terminal of this one, as far as `setup` says nothing else.
  static func start(
    _ program: String, _ arguments: [String], _ setup: Setup = Setup()
  ) throws(CommandError) -> ChildProcess {
    do { return try ChildProcess(program, arguments, setup) } catch {
      throw .system(call: "run", path: program, errno: error.errno)
    }
  }
}

extension ProcessPipe {
  static func make() throws(CommandError) -> ProcessPipe {
    do { return try ProcessPipe() } catch {
      throw .system(call: "pipe", path: "", errno: error.errno)
    }
  }
}
