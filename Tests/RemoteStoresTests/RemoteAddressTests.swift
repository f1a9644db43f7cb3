import RemoteStores
import SystemPackage
import Testing

struct RemoteAddressTests {
  /// What is typed, and what is printed and stored for it.
  @Test(arguments: [
    ("/media/disk", "/media/disk"), ("backup/here", "backup/here"), ("file:/media/x", "/media/x"),
    ("file:///media/x", "/media/x"), ("a:b", "a:b"), ("./s3://x", "./s3:/x"),
    ("s3://family", "s3://family"), ("s3://family/", "s3://family"),
    ("s3://family/a//b/", "s3://family/a/b"),
    (
      "s3://b?style=path&region=eu-central-1&endpoint=https://h:9000/",
      "s3://b?endpoint=https://h:9000&region=eu-central-1&style=path"
    ),
    ("s3://b/p?endpoint=h&ca=/etc/my ca.pem", "s3://b/p?endpoint=https://h&ca=/etc/my%20ca.pem"),
    ("https://cloud.example.org/dav/a%20b/", "https://cloud.example.org/dav/a%20b"),
    ("webdavs://u@h/", "https://u@h/"), ("webdav://127.0.0.1:80/x", "http://127.0.0.1/x"),
    ("http://[::1]:8080/x", "http://[::1]:8080/x"), ("rclone:nas:family", "rclone:nas:family"),
    ("rclone:nas:", "rclone:nas:"),
  ])
  func printsWhatItParsed(_ typed: String, _ printed: String) throws {
    let parsed = try RemoteAddress.parse(typed)
    #expect(parsed.address.description == printed)
    #expect(parsed.password == nil)
    #expect(try RemoteAddress.parse(parsed.address.text).address == parsed.address)
  }

  @Test(arguments: [
    "", "a\nb", "s3://", "s3:///x", "s3://b/../x", "s3://b?x=y", "s3://b?region", "s3://b?style=no",
    "s3://key:secret@b/x", "https://", "https://h:0/x", "https://h:99999/", "https://h/../x",
    "https://h/%zz", "https://h/x?token=secret", "sftp://h/x", "rclone:", "rclone:nas", "file:x",
    "https://h h/x",
  ])
  func refusesAndRepeatsNoSecret(_ text: String) {
    #expect {
      try RemoteAddress.parse(text)
    } throws: { error in
      guard let message = (error as? RemoteAddressError)?.message else { return false }
      return !message.isEmpty && !message.contains("secret")
    }
  }

  @Test func splitsThePasswordOff() throws {
    let parsed = try RemoteAddress.parse("https://anna:se%3Acret%40@cloud.example.org/dav")
    #expect(parsed.password == "se:cret@")
    #expect(parsed.address.description == "https://anna@cloud.example.org/dav")
    #expect("\(parsed.address)".contains("cret") == false)
    #expect("\(RemoteCredentials(user: "anna", secret: "se:cret"))".contains("cret") == false)
  }
}

struct SharedAWSFilesTests {
  @Test func readsProfiles() throws {
    let sections = SharedAWSFiles.parse(
      """
      # comment
      [default]
      aws_access_key_id = A
      aws_secret_access_key=b=c
      s3 =
        max_concurrent_requests = 20
      [profile  nas]
      ; comment
      region = eu-north-1
      """)
    #expect(sections["default"]?["aws_access_key_id"] == "A")
    #expect(sections["default"]?["aws_secret_access_key"] == "b=c")
    #expect(sections["default"]?["max_concurrent_requests"] == nil)
    #expect(sections["profile nas"] == ["region": "eu-north-1"])
  }

  @Test(arguments: [
    "rclone::webdav,url=\"http://h\",bearer_token_command=\"touch /tmp/x\":x",
    "rclone:mine,ssh=\"touch /tmp/x\":path", "rclone::sftp,host=h,pass=touch:folder",
  ])
  func settingsForRcloneAreTakenFromNobody(_ text: String) {
    let error = #expect(throws: RemoteAddressError.self) { try RemoteAddress.parse(text) }
    #expect(error?.message.contains("touch") == false)
    #expect(error?.message.contains("rclone config") == true)
  }

  @Test(arguments: [
    "rclone::sftp:path", "rclone::local:/etc", "rclone:mine:path", "s3://bucket/prefix",
    "s3://bucket?endpoint=https://s3.example.org", "s3://bucket?profile=work",
    "s3://bucket?ca=/etc/mine", "http://cloud.example.org/family",
    "https://cloud.example.org/family?ca=/etc/mine",
  ])
  func fromSomebodyElseItMayNotUseThisMachine(_ text: String) throws {
    let address = try RemoteAddress.parse(text).address
    #expect(throws: RemoteAddressError.self) { try address.requireHarmless(hasLogin: false) }
  }

  @Test(arguments: [
    "s3://bucket?endpoint=http://s3.example.org", "http://h/path", "rclone:mine:path",
  ])
  func aLoginDoesNotMakeItHarmless(_ text: String) throws {
    let address = try RemoteAddress.parse(text).address
    #expect(throws: RemoteAddressError.self) { try address.requireHarmless(hasLogin: true) }
  }

  @Test(arguments: ["https://h/path", "/media/stick"])
  func fromSomebodyElseItMayNameAPlace(_ text: String) throws {
    try RemoteAddress.parse(text).address.requireHarmless(hasLogin: false)
  }

  @Test(arguments: ["s3://bucket/prefix", "s3://bucket?endpoint=https://s3.example.org"])
  func aBucketWithALoginOfItsOwnIsHarmless(_ text: String) throws {
    try RemoteAddress.parse(text).address.requireHarmless(hasLogin: true)
  }
}
