/** The fields of a CA's certificate that are repeated in the certificates that the CA signs. */
import { createPrivateKey } from 'node:crypto'
import { readCertificate } from './certificate.ts'
import type { DerValue } from './der-reader.ts'
import { oidText, readDer, readDerItems } from './der-reader.ts'
import { extensionIds } from './extensions.ts'
import { isSupportedKeyType } from './signature.ts'

export interface Issuer {
  /**
   * The subject in DER. The issuer field of a leaf must have the same encoding, because verifiers compare the two encodings byte by byte.
   */
  readonly subject: Buffer
  /** The key identifier of the CA's certificate. Undefined when the certificate has none. */
  readonly subjectKey: Buffer | undefined
}

/** Reads the certificate of a CA (RFC 5280 §4.1). The CA may have been created by another program, such as OpenSSL. */
export function readIssuer(cert: string): Issuer {
  const [unsigned] = readDerItems(readDer(readCertificate(cert).x509.raw).content)
  const fields = readDerItems(unsigned!.content)
  // A certificate with extensions has version 3, so the field `version` is present. The fields are the version, serial number, algorithm,
  // issuer, validity, subject, key and extensions.
  const subject = fields[5]!
  const extensions = fields.find(({ tag }) => tag === 0xa3)
  const identifier = extensionValue(extensions, extensionIds.subjectKeyIdentifier)
  return { subject: subject.bytes, subjectKey: identifier && readDer(identifier).content }
}

/** Returns the DER value of an extension; undefined when the certificate does not have the extension. */
function extensionValue(extensions: DerValue | undefined, id: string): Buffer | undefined {
  if (extensions === undefined) return undefined
  for (const extension of readDerItems(readDer(extensions.content).content)) {
    // The fields are the OID, `critical` (optional) and the value as an OCTET STRING.
    const fields = readDerItems(extension.content)
    if (oidText(fields[0]!.content) === id) return fields.at(-1)!.content
  }
  return undefined
}

/** Returns the reason why a CA with this certificate and private key cannot sign certificates; undefined when the CA can sign. */
export function signingProblem(cert: string, key: string): string | undefined {
  // `x509.ca` is false for a certificate whose keyUsage does not include keyCertSign.
  if (!readCertificate(cert).x509.ca) return 'the certificate is not that of an authority'
  const { asymmetricKeyType: type } = createPrivateKey(key)
  return isSupportedKeyType(type) ? undefined : `the key has the type ${type}, but an authority needs an EC, RSA or Ed25519 key`
}
