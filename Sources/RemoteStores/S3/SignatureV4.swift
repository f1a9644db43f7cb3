/// AWS Signature Version 4: proves who sent a request without sending the secret. A pure function of its input.
///
/// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
package struct SignatureV4: Sendable {
  package var accessKey: String
  package var secretKey: String
  package var region: String
  package var service: String

  package init(accessKey: String, secretKey: String, region: String, service: String = "s3") {
    self.accessKey = accessKey
    self.secretKey = secretKey
    self.region = region
    self.service = service
  }

  /// A request as the signature sees it.
  package struct Request: Sendable {
    package var method: String
    /// As sent, percent-encoded, from the first `/` on.
    package var path: String
    /// Not yet encoded.
    package var query: [(name: String, value: String)]
    /// All that are signed, `host` and `x-amz-date` among them.
    package var headers: [(name: String, value: String)]
    /// SHA-256 of the body, as hex.
    package var payloadHash: String

    package init(
      method: String, path: String, query: [(name: String, value: String)],
      headers: [(name: String, value: String)], payloadHash: String
    ) {
      self.method = method
      self.path = path
      self.query = query
      self.headers = headers
      self.payloadHash = payloadHash
    }
  }

  /// The `Authorization` header's value.
  /// - Parameter time: As in `x-amz-date`: `20150830T123600Z`.
  package func authorization(of request: Request, time: String) -> String {
    let headers = Self.canonicalHeaders(request.headers)
    let names = headers.map(\.name).joined(separator: ";")
    let scope = "\(time.prefix(8))/\(region)/\(service)/aws4_request"
    let canonical = [
      request.method, request.path, Self.queryString(request.query),
      headers.map { "\($0.name):\($0.value)\n" }.joined(), names, request.payloadHash,
    ].joined(separator: "\n")
    let digest = RequestHash.hex(RequestHash.sha256(canonical))
    let text = "AWS4-HMAC-SHA256\n\(time)\n\(scope)\n\(digest)"
    let signature = RequestHash.hex(RequestHash.hmac(signingKey(day: time.prefix(8)), text))
    return "AWS4-HMAC-SHA256 Credential=\(accessKey)/\(scope), SignedHeaders=\(names), "
      + "Signature=\(signature)"
  }

  private func signingKey(day: Substring) -> [UInt8] {
    [region, service, "aws4_request"].reduce(
      RequestHash.hmac(Array("AWS4\(secretKey)".utf8), String(day))
    ) { RequestHash.hmac($0, $1) }
  }

  /// The query as it is signed, and as it is sent: sorted and encoded.
  package static func queryString(_ query: [(name: String, value: String)]) -> String {
    let pairs = query.map {
      (name: PercentEncoding.encode($0.name), value: PercentEncoding.encode($0.value))
    }
    return pairs.sorted { Self.precedes($0, $1) }.map { "\($0.name)=\($0.value)" }
      .joined(separator: "&")
  }

  /// By bytes; encoded text is ASCII.
  private static func precedes(
    _ a: (name: String, value: String), _ b: (name: String, value: String)
  ) -> Bool {
    a.name == b.name ? a.value < b.value : a.name < b.name
  }

  /// Lowercase names, sorted; values trimmed, with runs of spaces made one; values of one name joined.
  private static func canonicalHeaders(
    _ headers: [(name: String, value: String)]
  ) -> [(name: String, value: String)] {
    var values: [String: [String]] = [:]
    for (name, value) in headers {
      let words = value.split(whereSeparator: { $0 == " " || $0 == "\n" || $0 == "\t" })
      values[name.lowercased(), default: []].append(words.joined(separator: " "))
    }
    return values.sorted { $0.key < $1.key }.map {
      (name: $0.key, value: $0.value.joined(separator: ","))
    }
  }

  /// `20150830T123600Z` from seconds since 1970.
  package static func timestamp(_ seconds: Int64) -> String {
    let (day, time) = (floorDivide(seconds, 86400), seconds - floorDivide(seconds, 86400) * 86400)
    // Days to a civil date: http://howardhinnant.github.io/date_algorithms.html#civil_from_days
    let shifted = day + 719_468
    let era = floorDivide(shifted, 146_097)
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    let dayOfMonth = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    return padded(year, 4) + padded(month, 2) + padded(dayOfMonth, 2) + "T"
      + padded(time / 3600, 2) + padded(time / 60 % 60, 2) + padded(time % 60, 2) + "Z"
  }

  private static func floorDivide(_ a: Int64, _ b: Int64) -> Int64 {
    a >= 0 ? a / b : (a - b + 1) / b
  }

  private static func padded(_ number: Int64, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }
}
