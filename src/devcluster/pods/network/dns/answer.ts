/** The answers of the DNS server. Their records have the types of the library `dns-packet`. */
import type { Answer } from 'dns-packet'

export type AnswerCode = 'NOERROR' | 'FORMERR' | 'SERVFAIL' | 'NXDOMAIN' | 'NOTIMP' | 'REFUSED'

/**
 * An answer to one question. The code NOERROR without records means that the name exists, but has no records of the type (NODATA). The code
 * NXDOMAIN means that neither the name nor a name below it exists.
 */
export interface DnsAnswer {
  readonly code: AnswerCode
  /** True when this server is authoritative for the name in the question. Default false. */
  readonly isAuthoritative?: boolean
  readonly records: readonly Answer[]
  readonly authorities?: readonly Answer[]
  readonly additionals?: readonly Answer[]
}

/** An answer from a zone for which this server is authoritative. */
export interface ZoneAnswer extends DnsAnswer {
  /** The name to which the CNAME record of the answer points. Present only if the records of this name must be added to the answer. */
  readonly alias?: string
}

/** Time in seconds for which a client may cache an answer (github.com/coredns/coredns/plugin/kubernetes: defaultTTL). */
export const ttl = 5

/** Returns the SOA record of a zone. Its `minimum` is the time in seconds for which a client may cache a negative answer (RFC 2308). */
export function soa(zone: string, serial: number): Answer {
  const data = { mname: `ns.dns.${zone}`, rname: `hostmaster.${zone}`, serial, refresh: 7200, retry: 1800, expire: 86_400, minimum: ttl }
  return { type: 'SOA', name: zone, ttl, data }
}

/**
 * Returns true when a name can be encoded (RFC 1035). This is the case when the name has at most 253 characters, not counting a dot at its
 * end, and each label has 1 to 63 characters of printable ASCII.
 */
export function isEncodable(name: string): boolean {
  const relative = name.replace(/\.$/, '')
  return relative.length <= 253 && (name === '.' || relative.split('.').every((label) => /^[\x21-\x7e]{1,63}$/.test(label)))
}
