import CYAML

/// Writes one YAML document with libyaml: lines as long as they come, and text beyond ASCII as it is.
///
/// A call that has no place where it stands is a broken invariant of the caller's.
struct YAMLEmitter: ~Copyable {
  private let emitter: UnsafeMutablePointer<yaml_emitter_t>
  private let output: UnsafeMutablePointer<[UInt8]>

  init() {
    emitter = .allocate(capacity: 1)
    output = .allocate(capacity: 1)
    output.initialize(to: [])
    precondition(yaml_emitter_initialize(emitter) == 1, "no memory for writing YAML")
    yaml_emitter_set_output(
      emitter,
      { output, bytes, count in
        output?.assumingMemoryBound(to: [UInt8].self).pointee
          .append(contentsOf: UnsafeRawBufferPointer(start: bytes, count: count))
        return 1
      }, output)
    yaml_emitter_set_encoding(emitter, YAML_UTF8_ENCODING)
    yaml_emitter_set_unicode(emitter, 1)
    yaml_emitter_set_width(emitter, -1)
    emit { yaml_stream_start_event_initialize($0, YAML_UTF8_ENCODING) }
    emit { yaml_document_start_event_initialize($0, nil, nil, nil, 1) }
  }

  deinit {
    yaml_emitter_delete(emitter)
    emitter.deallocate()
    output.deinitialize(count: 1)
    output.deallocate()
  }

  func scalar(_ text: String, _ style: yaml_scalar_style_t) {
    var text = text
    text.withUTF8 { bytes in
      emit {
        yaml_scalar_event_initialize(
          $0, nil, nil, bytes.baseAddress, Int32(bytes.count), 1, 1, style)
      }
    }
  }

  func beginList(_ style: yaml_sequence_style_t) {
    emit { yaml_sequence_start_event_initialize($0, nil, nil, 1, style) }
  }

  func endList() {
    emit { yaml_sequence_end_event_initialize($0) }
  }

  /// Keys and values follow in turns.
  func beginMap() {
    emit { yaml_mapping_start_event_initialize($0, nil, nil, 1, YAML_BLOCK_MAPPING_STYLE) }
  }

  func endMap() {
    emit { yaml_mapping_end_event_initialize($0) }
  }

  consuming func finish() -> String {
    emit { yaml_document_end_event_initialize($0, 1) }
    emit { yaml_stream_end_event_initialize($0) }
    return String(decoding: output.pointee, as: UTF8.self)
  }

  private func emit(_ make: (UnsafeMutablePointer<yaml_event_t>) -> Int32) {
    var event = yaml_event_t()
    // The emitter takes the event over.
    guard make(&event) == 1, yaml_emitter_emit(emitter, &event) == 1 else {
      let problem = emitter.pointee.problem.map { String(cString: $0) } ?? "no memory"
      preconditionFailure("YAML that was made here cannot be written: \(problem)")
    }
  }
}
