/** `machineResolver`: resolves DNS questions with the name servers of the developer's machine. */
import { Resolver } from 'node:dns/promises'
import type { Answer, RecordType } from 'dns-packet'
import type { Clock } from '../../../../runtime/clock.ts'
import { timedOut, within } from '../../../../runtime/waiting.ts'
import type { DnsAnswer } from './answer.ts'
import { ttl } from './answer.ts'

/**
 * Time in milliseconds after which a question is answered with SERVFAIL. This time is shorter than the usual timeout of a client, which is
 * 5 s (resolv.conf(5): timeout).
 */
const deadlineMs = 4000
/** The maximum number of questions that are resolved at the same time. Further questions are answered with SERVFAIL. */
const maxPending = 256

const noAnswer: DnsAnswer = { code: 'SERVFAIL', records: [] }

export type ResolveName = (name: string, type: RecordType) => Promise<DnsAnswer>

/**
 * Returns a function that resolves DNS questions. The function never rejects. If no name server answers within 4 s, the function resolves
 * to SERVFAIL.
 *
 * @param resolver default: a resolver that uses the name servers of this machine (`/etc/resolv.conf`).
 */
export function machineResolver(clock: Clock, resolver: Resolver = new Resolver({ timeout: 1500, tries: 2 })): ResolveName {
  let pending = 0
  return async (name, type) => {
    if (pending >= maxPending) return noAnswer
    pending += 1
    try {
      const answer = await within(clock, deadlineMs, resolve(resolver, name, type))
      return answer === timedOut ? noAnswer : answer
    } finally {
      pending -= 1
    }
  }
}

async function resolve(resolver: Resolver, name: string, type: RecordType): Promise<DnsAnswer> {
  try {
    const records = await recordsOf(resolver, name, type)
    return records === undefined ? { code: 'NOTIMP', records: [] } : { code: 'NOERROR', records }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENODATA') return { code: 'NOERROR', records: [] }
    return code === 'ENOTFOUND' ? { code: 'NXDOMAIN', records: [] } : noAnswer
  }
}

/** Returns undefined for a type that `node:dns` cannot resolve. `node:dns` reports the time to live only for the types A and AAAA. */
async function recordsOf(resolver: Resolver, name: string, type: RecordType): Promise<readonly Answer[] | undefined> {
  switch (type) {
    case 'A':
      return (await resolver.resolve4(name, { ttl: true })).map((record) => ({ type, name, ttl: record.ttl, data: record.address }))
    case 'AAAA':
      return (await resolver.resolve6(name, { ttl: true })).map((record) => ({ type, name, ttl: record.ttl, data: record.address }))
    case 'CNAME':
      return (await resolver.resolveCname(name)).map((data) => ({ type, name, ttl, data }))
    case 'NS':
      return (await resolver.resolveNs(name)).map((data) => ({ type, name, ttl, data }))
    case 'PTR':
      return (await resolver.resolvePtr(name)).map((data) => ({ type, name, ttl, data }))
    case 'TXT':
      return (await resolver.resolveTxt(name)).map((data) => ({ type, name, ttl, data }))
    case 'MX':
      return (await resolver.resolveMx(name)).map(({ priority, exchange }) => ({
        type,
        name,
        ttl,
        data: { preference: priority, exchange },
      }))
    case 'SRV':
      return (await resolver.resolveSrv(name)).map(({ priority, weight, port, name: target }) => ({
        type,
        name,
        ttl,
        data: { priority, weight, port, target },
      }))
    case 'SOA': {
      const { nsname, hostmaster, serial, refresh, retry, expire, minttl } = await resolver.resolveSoa(name)
      return [{ type, name, ttl, data: { mname: nsname, rname: hostmaster, serial, refresh, retry, expire, minimum: minttl } }]
    }
    default:
      return undefined
  }
}
