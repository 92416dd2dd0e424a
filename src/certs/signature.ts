/** Signs certificates with the key of a CA. */
import { sign } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import type forge from 'node-forge'
import { asn1 } from './asn1.ts'
import { oid, sequence } from './der.ts'

interface Algorithm {
  readonly id: string
  /** The hash function. Ed25519 has no separate hash function. */
  readonly hash?: string
  /** True when the algorithm identifier has the parameter NULL. */
  readonly hasNull?: boolean
}

/** The signature algorithms by the type of the CA's key (RFC 4055 §5, RFC 5758 §3.2, RFC 8410 §3). */
const algorithms: Readonly<Record<string, Algorithm>> = {
  ec: { id: '1.2.840.10045.4.3.2', hash: 'sha256' },
  rsa: { id: '1.2.840.113549.1.1.11', hash: 'sha256', hasNull: true },
  ed25519: { id: '1.3.101.112' },
}

/** Returns true when certificates can be signed with a key of this type (`KeyObject.asymmetricKeyType`). */
export function isSupportedKeyType(type: string | undefined): boolean {
  return type !== undefined && Object.hasOwn(algorithms, type)
}

/** Returns the AlgorithmIdentifier of the signatures that `signatureOf` creates with the key. */
export function signatureAlgorithm(key: KeyObject): forge.asn1.Asn1 {
  const { id, hasNull = false } = algorithmOf(key)
  return sequence(oid(id), ...(hasNull ? [asn1.create(asn1.Class.UNIVERSAL, asn1.Type.NULL, false, '')] : []))
}

/** Returns the signature of the bytes as a BIT STRING. */
export function signatureOf(bytes: Buffer, key: KeyObject): forge.asn1.Asn1 {
  const signature = sign(algorithmOf(key).hash, bytes, key)
  return asn1.create(asn1.Class.UNIVERSAL, asn1.Type.BITSTRING, false, `\0${signature.toString('binary')}`)
}

function algorithmOf({ asymmetricKeyType: type }: KeyObject): Algorithm {
  if (!isSupportedKeyType(type)) throw new Error(`a key of the type ${type} cannot sign certificates`)
  return algorithms[type!]!
}
