/** Makes certificate requests for tests. A test specifies the key. */
import type { KeyObject } from 'node:crypto'
import { sign } from 'node:crypto'
import type forge from 'node-forge'
import { asn1 } from '../../../src/certs/asn1.ts'
import { fromBuffer, integer, oid, sequence, set, toBuffer, utf8String } from '../../../src/certs/der.ts'

export interface RequestOptions {
  readonly commonName: string
  /** The value of the `organization` attribute. A string is encoded as UTF8String. */
  readonly organization: string | forge.asn1.Asn1
  /** An ECDSA key. */
  readonly privateKey: KeyObject
  readonly publicKey: KeyObject
}

/** Returns a certificate request as PEM. */
export function certificateRequest({ commonName, organization, privateKey, publicKey }: RequestOptions): string {
  const group = typeof organization === 'string' ? utf8String(organization) : organization
  const name = sequence(set(sequence(oid('2.5.4.10'), group)), set(sequence(oid('2.5.4.3'), utf8String(commonName))))
  const attributes = asn1.create(asn1.Class.CONTEXT_SPECIFIC, 0, true, [])
  const info = sequence(integer(Buffer.from([0])), name, fromBuffer(publicKey.export({ type: 'spki', format: 'der' })), attributes)
  const signature = sign('sha256', toBuffer(info), privateKey)
  const bits = asn1.create(asn1.Class.UNIVERSAL, asn1.Type.BITSTRING, false, `\0${signature.toString('binary')}`)
  const der = toBuffer(sequence(info, sequence(oid('1.2.840.10045.4.3.2')), bits))
  const lines = der.toString('base64').match(/.{1,64}/g) ?? []
  return `-----BEGIN CERTIFICATE REQUEST-----\n${lines.join('\n')}\n-----END CERTIFICATE REQUEST-----\n`
}
