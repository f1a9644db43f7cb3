import ArgumentParser
import Vault

extension KeepPolicy: ExpressibleByArgument {}
