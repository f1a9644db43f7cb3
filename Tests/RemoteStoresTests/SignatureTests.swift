import RemoteStores
import TestSupport
import Testing

/// Signature Version 4 against AWS's published examples, and against botocore.
struct SignatureTests {
  private static let suite = SignatureV4(
    accessKey: "AKIDEXAMPLE", secretKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
    region: "us-east-1", service: "service")
  private static let emptyHash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

  /// From the Signature Version 4 test suite: `get-vanilla`, `get-vanilla-query-order-key-case`, `post-vanilla`.
  @Test(
    arguments: [
      ("GET", [], "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
      (
        "GET", [("Param2", "value2"), ("Param1", "value1")],
        "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"
      ),
      ("POST", [], "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"),
    ] as [(String, [(String, String)], String)])
  func signsTheTestSuite(method: String, query: [(String, String)], signature: String) {
    let time = "20150830T123600Z"
    let request = SignatureV4.Request(
      method: method, path: "/", query: query.map { (name: $0.0, value: $0.1) },
      headers: [(name: "Host", value: "example.amazonaws.com"), (name: "X-Amz-Date", value: time)],
      payloadHash: Self.emptyHash)
    #expect(
      Self.suite.authorization(of: request, time: time)
        == "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, "
        + "SignedHeaders=host;x-amz-date, Signature=\(signature)")
  }

  /// From "Signature Calculations for the Authorization Header" of the S3 manual.
  @Test func signsTheExamplesOfS3() {
    let signer = SignatureV4(
      accessKey: "AKIAIOSFODNN7EXAMPLE", secretKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
      region: "us-east-1")
    func signature(
      _ method: String, _ path: String, query: [(name: String, value: String)] = [],
      _ more: [(name: String, value: String)] = [], hash: String = Self.emptyHash
    ) -> String {
      let time = "20130524T000000Z"
      let request = SignatureV4.Request(
        method: method, path: path, query: query,
        headers: more + [
          (name: "host", value: "examplebucket.s3.amazonaws.com"),
          (name: "x-amz-content-sha256", value: hash), (name: "x-amz-date", value: time),
        ], payloadHash: hash)
      return String(signer.authorization(of: request, time: time).suffix(64))
    }
    #expect(
      signature("GET", "/test.txt", [(name: "Range", value: "bytes=0-9")])
        == "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41")
    #expect(
      signature(
        "PUT", "/test%24file.text",
        [
          (name: "Date", value: "Fri, 24 May 2013 00:00:00 GMT"),
          (name: "x-amz-storage-class", value: "REDUCED_REDUNDANCY"),
        ], hash: "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072")
        == "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd")
    #expect(
      signature("GET", "/", query: [(name: "lifecycle", value: "")])
        == "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543")
    #expect(
      signature("GET", "/", query: [(name: "max-keys", value: "2"), (name: "prefix", value: "J")])
        == "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7")
  }

  /// Requests as our store makes them, with all kinds of keys.
  @Test func agreesWithBotocore() throws {
    let time = "20260101T101112Z"
    let signer = SignatureV4(accessKey: "ID", secretKey: "se/cr+et=", region: "eu-central-1")
    let cases: [(method: String, path: String, query: [(name: String, value: String)])] = [
      ("GET", "/bucket/members/ab/objects/cd/ef", []),
      ("PUT", "/bucket/a%20b%2Bc%25/%C3%A9~-._", []),
      ("HEAD", "/bucket/%E6%97%A5%E6%9C%AC", []),
      (
        "GET", "/bucket",
        [
          (name: "prefix", value: "a b/é+&=/"), (name: "list-type", value: "2"),
          (name: "continuation-token", value: "x/y+z=="), (name: "delimiter", value: "/"),
        ]
      ),
      ("DELETE", "/x", []),
    ]
    let script = """
      import sys, botocore.auth, botocore.awsrequest, botocore.credentials
      class Fixed(botocore.auth.S3SigV4Auth):
          def payload(self, request): return sys.argv[2]
      for line in sys.stdin.read().splitlines():
          method, url = line.split(" ")
          request = botocore.awsrequest.AWSRequest(method=method, url=url, headers={
              "x-amz-date": sys.argv[1], "x-amz-content-sha256": sys.argv[2]})
          request.context["timestamp"] = sys.argv[1]
          auth = Fixed(botocore.credentials.Credentials("ID", "se/cr+et="), "s3", "eu-central-1")
          signature = auth.signature(
              auth.string_to_sign(request, auth.canonical_request(request)), request)
          print(signature)
      """
    let lines = cases.map { example in
      let query = SignatureV4.queryString(example.query)
      return "\(example.method) https://h:9000\(example.path)\(query.isEmpty ? "" : "?\(query)")\n"
    }
    let result = try CommandRunner.run(
      try ServerPrograms.path("python"), ["-c", script, time, Self.emptyHash],
      input: Array(lines.joined().utf8))
    try #require(result.status == 0, "\(result.errors)")
    let theirs = result.output.split(separator: "\n").map(String.init)
    let ours = cases.map { example in
      String(
        signer.authorization(
          of: SignatureV4.Request(
            method: example.method, path: example.path, query: example.query,
            headers: [
              (name: "host", value: "h:9000"), (name: "x-amz-date", value: time),
              (name: "x-amz-content-sha256", value: Self.emptyHash),
            ], payloadHash: Self.emptyHash), time: time
        ).suffix(64))
    }
    #expect(ours == theirs)
  }

  @Test(arguments: [
    (0, "19700101T000000Z"), (951_782_400, "20000229T000000Z"), (1_440_938_160, "20150830T123600Z"),
    (4_102_444_799, "20991231T235959Z"), (-1, "19691231T235959Z"),
  ])
  func writesTimes(seconds: Int64, text: String) {
    #expect(SignatureV4.timestamp(seconds) == text)
  }
}
