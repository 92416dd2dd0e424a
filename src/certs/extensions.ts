/**
 * The X.509 extensions of CA certificates, of serving certificates, and of certificates that are issued for certificate requests (RFC 5280
 * §4.2).
 */
import { isIP } from 'node:net'
import type { asn1 } from 'node-forge'
import { ProreusError } from '../api/errors.ts'
import type { CertificateRequest } from './certificate-request.ts'
import { boolean, implicit, integer, namedBits, octets, oid, sequence, toBuffer } from './der.ts'

/** The OIDs of the extensions. */
export const extensionIds = {
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyIdentifier: '2.5.29.35',
  extKeyUsage: '2.5.29.37',
} as const
const serverAuth = '1.3.6.1.5.5.7.3.1'

/** Bits of the keyUsage extension. */
const digitalSignature = 0
const keyCertSign = 5
const crlSign = 6

/** Tags of the ASN.1 type GeneralName. */
const email = 1
const dnsName = 2
const uri = 6
const ipAddress = 7

export function authorityExtensions(key: Buffer): asn1.Asn1 {
  return sequence(
    // The path length is 0, because this CA signs only leaf certificates.
    extension('basicConstraints', true, sequence(boolean(true), integer(Buffer.from([0])))),
    extension('keyUsage', true, namedBits(keyCertSign, crlSign)),
    extension('subjectKeyIdentifier', false, octets(key)),
  )
}

export interface LeafNames {
  readonly subjectKey: Buffer
  /** The key identifier of the CA; undefined when the CA's certificate has none. */
  readonly authorityKey: Buffer | undefined
  readonly names: readonly string[]
  readonly ips: readonly string[]
}

export function leafExtensions({ subjectKey, authorityKey, names, ips }: LeafNames): asn1.Asn1 {
  return sequence(
    extension('basicConstraints', true, sequence()), // If `cA` is false, DER omits this field, because false is its default.
    extension('keyUsage', true, namedBits(digitalSignature)),
    extension('extKeyUsage', false, sequence(oid(serverAuth))),
    extension('subjectKeyIdentifier', false, octets(subjectKey)),
    ...authorityKeyIdentifier(authorityKey),
    // This extension is not critical, because the certificate has a subject (RFC 5280 §4.2.1.6).
    extension('subjectAltName', false, altNames(names, ips)),
  )
}

export interface SignedOptions {
  /** Bits of the keyUsage extension. */
  readonly usages: readonly number[]
  /** OIDs of the extKeyUsage extension. */
  readonly extendedUsages: readonly string[]
  /** The key identifier of the CA; undefined when the CA's certificate has none. */
  readonly authorityKey: Buffer | undefined
  readonly request: CertificateRequest
  /** True for a certificate with an empty subject. Its subjectAltName must be critical (RFC 5280 §4.2.1.6). */
  readonly isNameless: boolean
}

/** Returns the extensions of a certificate that is issued for a request. The order is that of Go's `x509.CreateCertificate`. */
export function signedExtensions({ usages, extendedUsages, authorityKey, request, isNameless }: SignedOptions): asn1.Asn1 {
  const altNames = requestedNames(request)
  return sequence(
    ...(usages.length === 0 ? [] : [extension('keyUsage', true, namedBits(...usages))]),
    ...(extendedUsages.length === 0 ? [] : [extension('extKeyUsage', false, sequence(...extendedUsages.map(oid)))]),
    extension('basicConstraints', true, sequence()),
    ...authorityKeyIdentifier(authorityKey),
    ...(altNames.length === 0 ? [] : [extension('subjectAltName', isNameless, sequence(...altNames))]),
  )
}

function requestedNames({ dnsNames, emails, ips, uris }: CertificateRequest): asn1.Asn1[] {
  const named = (tag: number, names: readonly string[]): asn1.Asn1[] => names.map((name) => implicit(tag, Buffer.from(name, 'latin1')))
  return [...named(dnsName, dnsNames), ...named(email, emails), ...ips.map((ip) => implicit(ipAddress, ip)), ...named(uri, uris)]
}

function authorityKeyIdentifier(key: Buffer | undefined): asn1.Asn1[] {
  return key === undefined ? [] : [extension('authorityKeyIdentifier', false, sequence(implicit(0, key)))]
}

function extension(id: keyof typeof extensionIds, critical: boolean, value: asn1.Asn1): asn1.Asn1 {
  return sequence(oid(extensionIds[id]), ...(critical ? [boolean(true)] : []), octets(toBuffer(value)))
}

function altNames(names: readonly string[], ips: readonly string[]): asn1.Asn1 {
  const all = [...new Set(names)].map((name) => implicit(dnsName, dnsBytes(name)))
  all.push(...[...new Set(ips)].map((ip) => implicit(ipAddress, ipBytes(ip))))
  if (all.length === 0) throw new ProreusError('PRO_CONFIG_INVALID', 'A serving certificate needs at least one DNS name or IP address.')
  return sequence(...all)
}

function dnsBytes(name: string): Buffer {
  if (/^(\*\.)?[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?(\.[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?)*$/.test(name))
    return Buffer.from(name, 'latin1')
  throw new ProreusError('PRO_CONFIG_INVALID', `"${name}" is not a DNS name that a certificate could be for.`)
}

/** Returns the 4 or 16 octets of an IP address. */
export function ipBytes(ip: string): Buffer {
  switch (isIP(ip)) {
    case 4:
      return Buffer.from(ip.split('.').map(Number))
    case 6: {
      // `URL` normalizes an IPv6 address to groups of hexadecimal digits, with at most one `::`.
      const [head = '', tail = ''] = new URL(`http://[${ip}]`).hostname.slice(1, -1).split('::')
      const groups = (text: string): string[] => (text === '' ? [] : text.split(':'))
      const [front, back] = [groups(head), groups(tail)]
      const middle = Array.from({ length: 8 - front.length - back.length }, () => '0')
      return Buffer.from([...front, ...middle, ...back].map((group) => group.padStart(4, '0')).join(''), 'hex')
    }
    default:
      throw new ProreusError('PRO_CONFIG_INVALID', `"${ip}" is not an IP address.`)
  }
}
