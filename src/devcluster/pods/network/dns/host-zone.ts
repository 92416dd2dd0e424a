/** The zone `proreus.internal`, which contains the name of the developer's machine. */
import type { Answer, RecordType } from 'dns-packet'
import type { ZoneAnswer } from './answer.ts'
import { soa, ttl } from './answer.ts'

const zone = 'proreus.internal'

/** The name at which Pods reach servers on the loopback interface of the developer's machine. */
export const hostName = `host.${zone}`

/**
 * Returns the answer to a question. Returns undefined for a name outside of the zone. If `address` is undefined, the answer for `hostName`
 * is NXDOMAIN.
 */
export function answerForHost(address: string | undefined, name: string, type: RecordType): ZoneAnswer | undefined {
  const lower = name.toLowerCase()
  if (lower !== zone && !lower.endsWith(`.${zone}`)) return undefined
  const records: readonly Answer[] = address === undefined || type !== 'A' || lower !== hostName ? [] : [{ type, name, ttl, data: address }]
  if (records.length > 0) return { code: 'NOERROR', records }
  const exists = lower === zone || (lower === hostName && address !== undefined)
  return { code: exists ? 'NOERROR' : 'NXDOMAIN', records, authorities: [soa(zone, 0)] }
}
