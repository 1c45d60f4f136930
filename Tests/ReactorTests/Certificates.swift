import COpenSSL
import Glibc
import Reactor

/// Self-signed certificates in a folder of their own, gone with this object.
final class Certificates {
  let folder: String
  private var files: [String] = []

  init() throws {
    let parent = getenv("TMPDIR").map { String(cString: $0) } ?? P_tmpdir
    var template = Array("\(parent)/reactor-\(String(repeating: "X", count: 6))".utf8CString)
    guard mkdtemp(&template) != nil else { throw ClientFailure("mkdtemp") }
    folder = String(decoding: template.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit {
    for file in files { unlink(file) }
    rmdir(folder)
  }

  func path(_ name: String) -> String {
    let path = "\(folder)/\(name)"
    if !files.contains(path) { files.append(path) }
    return path
  }

  /// A fresh Ed25519 key and a certificate whose subject is `name`.
  func identity(_ name: String) throws -> TLSIdentity {
    let identity = TLSIdentity(certificatePath: path("\(name).cert"), keyPath: path("\(name).key"))
    var key: OpaquePointer?
    let generator = EVP_PKEY_CTX_new_id(NID_ED25519, nil)
    EVP_PKEY_keygen_init(generator)
    EVP_PKEY_keygen(generator, &key)
    EVP_PKEY_CTX_free(generator)
    let certificate = X509_new()
    defer {
      EVP_PKEY_free(key)
      X509_free(certificate)
    }
    X509_set_version(certificate, 2)
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1)
    X509_gmtime_adj(X509_getm_notBefore(certificate), -3600)
    X509_gmtime_adj(X509_getm_notAfter(certificate), 86_400 * 30 + 60)
    let subject = X509_get_subject_name(certificate)
    X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, name, -1, -1, 0)
    X509_set_issuer_name(certificate, subject)
    X509_set_pubkey(certificate, key)
    guard X509_sign(certificate, key, nil) > 0 else { throw ClientFailure("X509_sign") }
    let certificateFile = BIO_new_file(identity.certificatePath, "w")
    PEM_write_bio_X509(certificateFile, certificate)
    BIO_free(certificateFile)
    let keyFile = BIO_new_file(identity.keyPath, "w")
    PEM_write_bio_PrivateKey(keyFile, key, nil, nil, 0, nil, nil)
    BIO_free(keyFile)
    return identity
  }
}
