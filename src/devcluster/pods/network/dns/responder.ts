/**
 * `Responder`: resolves queries for names in the zones of the cluster. For all other queries, it uses the resolver of the developer's
 * machine.
 */
import type { Answer, RecordType } from 'dns-packet'
import type { DnsAnswer, ZoneAnswer } from './answer.ts'
import type { DnsQuery } from './message.ts'

export interface ResponderOptions {
  /** Returns the answer to a question; undefined for a name outside the zones. */
  readonly zones: (name: string, type: RecordType) => ZoneAnswer | undefined
  /** Resolves names outside the zones. */
  readonly upstream: (name: string, type: RecordType) => Promise<DnsAnswer>
  /** Determines the random order of records. Clients often use the first record (github.com/coredns/coredns/plugin/loadbalance). */
  readonly random: () => number
}

/**
 * If a chain contains this number of aliases, the answer is SERVFAIL. Without this limit, the resolution of a cycle of aliases would never
 * end.
 */
const maxAliases = 8

export class Responder {
  readonly #options: ResponderOptions

  constructor(options: ResponderOptions) {
    this.#options = options
  }

  async answer({ question }: DnsQuery): Promise<DnsAnswer> {
    const { zones, upstream, random } = this.#options
    const aliases: Answer[] = []
    let name = question.name
    const isAuthoritative = zones(name, question.type) !== undefined
    while (aliases.length < maxAliases) {
      const answer: ZoneAnswer = zones(name, question.type) ?? (await upstream(name, question.type))
      if (answer.alias === undefined) return { ...answer, isAuthoritative, records: [...aliases, ...inRandomOrder(answer.records, random)] }
      aliases.push(...answer.records)
      name = answer.alias
    }
    return { code: 'SERVFAIL', records: [] }
  }
}

/**
 * Shuffles the records if all of them have the same name and type. If names or types differ, for example for an alias and its addresses,
 * the order does not change.
 */
function inRandomOrder(records: readonly Answer[], random: () => number): readonly Answer[] {
  if (records.some(({ name, type }) => name !== records[0]!.name || type !== records[0]!.type)) return records
  const shuffled = [...records]
  for (let last = shuffled.length - 1; last > 0; last -= 1) {
    const other = Math.floor(random() * (last + 1))
    ;[shuffled[last], shuffled[other]] = [shuffled[other]!, shuffled[last]!]
  }
  return shuffled
}
