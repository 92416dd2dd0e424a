/** Tests of aliases. A response for an alias can consist of records from several zones. */
import type { Answer } from 'dns-packet'
import t from 'tap'
import type { ZoneAnswer } from '../../../../../src/devcluster/pods/network/dns/answer.ts'
import { Responder } from '../../../../../src/devcluster/pods/network/dns/responder.ts'

const aliasOf = (name: string, alias: string): ZoneAnswer => ({
  code: 'NOERROR',
  records: [{ type: 'CNAME', name, ttl: 5, data: alias }],
  alias,
})
const address: Answer = { type: 'A', name: 'end.example', ttl: 5, data: '192.0.2.1' }
const ask = (responder: Responder, name: string) =>
  responder.answer({ question: { name, type: 'A' } } as Parameters<Responder['answer']>[0])

t.test('an alias leads to the addresses of another name, which a resolver outside of the cluster may know', async (t) => {
  const responder = new Responder({
    zones: (name) => (name === 'out' ? aliasOf('out', 'end.example') : undefined),
    upstream: (name) =>
      Promise.resolve(name === 'end.example' ? { code: 'NOERROR', records: [address] } : { code: 'NXDOMAIN', records: [] }),
    random: () => 0,
  })
  t.strictSame(await ask(responder, 'out'), {
    code: 'NOERROR',
    isAuthoritative: true,
    records: [{ type: 'CNAME', name: 'out', ttl: 5, data: 'end.example' }, address],
  })
})

t.test('aliases in a circle end after eight', async (t) => {
  const asked: string[] = []
  const responder = new Responder({
    zones(name) {
      asked.push(name)
      return aliasOf(name, name === 'a' ? 'b' : 'a')
    },
    upstream: () => Promise.reject(new Error('no name is outside')),
    random: () => 0,
  })
  t.strictSame(await ask(responder, 'a'), { code: 'SERVFAIL', records: [] })
  // `zones` is called once to determine if the answer is authoritative, and then once for each of the eight aliases.
  t.equal(asked.length, 1 + 8)
})
