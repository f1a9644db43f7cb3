import VaultModel

extension RedoEdit {
  init(_ edit: RecordEdit) {
    self.init(
      record: edit.record, isNew: edit.isNew, place: edit.place, attributes: edit.attributes,
      items: edit.items.values.compactMap { $0 }.sorted { $0.name < $1.name }.map { item in
        var item = item
        item.fileTime = edit.unchangedFiles[item.name]
        return item
      },
      removed: edit.items.filter { $0.value == nil }.map(\.key).sorted(),
      seen: edit.seen.map { Seen(name: $0.key, file: $0.value) }.sorted { $0.name < $1.name },
      seenPlace: edit.seenPlace)
    modified = edit.modified?.time
  }
}

extension RecordEdit {
  init(_ edit: RedoEdit) {
    self.init(
      record: edit.record, isNew: edit.isNew, place: edit.place, attributes: edit.attributes)
    for item in edit.items {
      items[item.name] = item
      unchangedFiles[item.name] = item.fileTime
    }
    seenPlace = edit.seenPlace
    modified = edit.modified.map { Touch(time: $0) }
    isOfView = true
    for name in edit.removed { items.updateValue(nil, forKey: name) }
    for item in edit.seen { seen[item.name] = item.file }
  }
}
