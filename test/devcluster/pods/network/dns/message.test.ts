/** Tests of DNS messages: sizes, EDNS, and messages that are not queries. */
import type { Answer, Packet } from 'dns-packet'
import { decode, encode } from 'dns-packet'
import t from 'tap'
import type { DnsQuery } from '../../../../../src/devcluster/pods/network/dns/message.ts'
import { isEncodable } from '../../../../../src/devcluster/pods/network/dns/answer.ts'
import { decodeQuery, encodeTcp, encodeUdp } from '../../../../../src/devcluster/pods/network/dns/message.ts'
import { fc } from '../../../../support/property.ts'

const question = { name: 'web.default.svc.cluster.local', type: 'A' as const }
const edns = (udpPayloadSize: number, ednsVersion = 0): Answer => ({
  type: 'OPT',
  name: '.',
  udpPayloadSize,
  extendedRcode: 0,
  ednsVersion,
  flags: 0,
  flag_do: false,
  options: [],
})
const addresses = (count: number): Answer[] =>
  Array.from({ length: count }, (_, index) => ({ type: 'A', name: question.name, ttl: 5, data: `10.244.${index >> 8}.${index & 255}` }))

function query(packet: Packet): DnsQuery {
  const found = decodeQuery(encode({ type: 'query', id: 7, questions: [question], ...packet }))
  if (found === undefined || Buffer.isBuffer(found)) throw new Error('the query was refused')
  return found
}

/**
 * Returns the response code with which a message is refused, or `no response` if there is no response. Returns undefined if the message is
 * a query.
 */
function refusedWith(message: Buffer): string | undefined {
  const found = decodeQuery(message)
  if (found === undefined) return 'no response'
  return Buffer.isBuffer(found) ? (decode(found) as unknown as { rcode: string }).rcode : undefined
}

t.test('a response has the question, the identifier and the flags of its query', async (t) => {
  const response = decode(encodeUdp(query({ flags: 0x100 }), { code: 'NOERROR', isAuthoritative: true, records: addresses(1) }))
  t.match(response, { id: 7, flag_qr: true, flag_rd: true, flag_ra: true, flag_aa: true, flag_tc: false })
  t.strictSame(response.additionals, [])
  t.match(response.questions, [question])
  t.match(response.answers, [{ type: 'A', name: question.name, ttl: 5, data: '10.244.0.0' }])
})

t.test('a response over UDP is truncated at the size that the client accepts', async (t) => {
  const sizes: readonly [string, Packet, number][] = [
    ['without EDNS', {}, 512],
    ['with EDNS', { additionals: [edns(1232)] }, 1232],
    ['with a size that is too small', { additionals: [edns(1)] }, 512],
    ['with a size that is too large', { additionals: [edns(65_535)] }, 4096],
  ]
  for (const [name, packet, size] of sizes) {
    const message = encodeUdp(query(packet), { code: 'NOERROR', records: addresses(300) })
    const response = decode(message)
    t.ok(message.length <= size && message.length > size - 60, `${name}: ${message.length} of ${size} bytes`)
    t.ok(response.flag_tc)
    t.equal(
      response.additionals?.some(({ type }) => type === 'OPT'),
      packet.additionals !== undefined,
    )
  }
  const complete = decode(encodeTcp(query({}), { code: 'NOERROR', records: addresses(300) }))
  t.strictSame([complete.flag_tc, complete.answers?.length], [false, 300])
  const tooLarge = encodeTcp(query({}), { code: 'NOERROR', records: addresses(3000) })
  t.ok(tooLarge.length <= 65_535 && decode(tooLarge).flag_tc)
})

t.test('additional records that do not fit are left out without truncation', async (t) => {
  const response = decode(encodeUdp(query({}), { code: 'NOERROR', records: addresses(1), additionals: addresses(100) }))
  t.notOk(response.flag_tc)
  t.ok(response.additionals!.length > 0 && response.additionals!.length < 100)
})

t.test('a record that cannot be encoded makes the answer SERVFAIL', async (t) => {
  const records: Answer[] = [
    { type: 'CNAME', name: question.name, data: `${'x'.repeat(64)}.example.com` },
    { type: 'CNAME', name: question.name, data: 'ünicode.example.com' },
    { type: 'CNAME', name: question.name, data: Array.from({ length: 60 }, () => 'label').join('.') },
    { type: 'TXT', name: question.name, data: ['x'.repeat(256)] },
  ]
  for (const record of records) {
    const response = decode(encodeUdp(query({}), { code: 'NOERROR', records: [record] })) as unknown as { rcode: string }
    t.equal(response.rcode, 'SERVFAIL')
  }
})

t.test('messages that are no query are refused or get no response', async (t) => {
  const header = Buffer.from([0, 7, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0])
  const label = (...bytes: number[]) => Buffer.concat([header, Buffer.from([bytes.length, ...bytes, 0, 0, 1, 0, 1])])
  t.equal(refusedWith(Buffer.alloc(11)), 'no response')
  t.equal(refusedWith(encode({ type: 'response', questions: [question] })), 'no response')
  t.equal(refusedWith(encode({ type: 'query', flags: 2 << 11, questions: [question] })), 'NOTIMP')
  t.equal(refusedWith(encode({ type: 'query', questions: [] })), 'FORMERR')
  t.equal(refusedWith(encode({ type: 'query', questions: [question, question] })), 'FORMERR')
  t.equal(refusedWith(encode({ type: 'query', questions: [{ ...question, class: 'CH' }] })), 'REFUSED')
  t.equal(refusedWith(encode({ type: 'query', questions: [question], additionals: [edns(512), edns(512)] })), 'FORMERR')
  t.equal(refusedWith(label(0x61, 0x2e, 0x62)), 'FORMERR', 'a dot in a label')
  t.equal(refusedWith(label(0xff, 0xfe)), 'FORMERR', 'bytes that are no text')
  t.equal(refusedWith(Buffer.concat([header, Buffer.from([0xc0, 12, 0, 1, 0, 1])])), 'FORMERR', 'a name that refers to itself')
  t.equal(refusedWith(Buffer.concat([encode({ type: 'query', questions: [question] }), Buffer.alloc(5000)])), 'FORMERR', 'too long')
  t.equal(refusedWith(label(0x61)), undefined)
  const version = decode(decodeQuery(encode({ type: 'query', questions: [question], additionals: [edns(512, 1)] })) as Buffer)
  t.match(version.additionals, [{ type: 'OPT', extendedRcode: 1 }])
})

t.test('no message makes the decoder throw', async (t) => {
  const mutated = fc.tuple(fc.uint8Array({ minLength: 0, maxLength: 40 }), fc.nat({ max: 40 })).map(([bytes, at]) => {
    const message = encode({ type: 'query', id: 7, questions: [question], additionals: [edns(1232)] })
    message.set(bytes.subarray(0, Math.max(0, message.length - at)), at)
    return message
  })
  const any = fc.oneof(
    mutated,
    fc.uint8Array({ maxLength: 600 }).map((bytes) => Buffer.from(bytes)),
  )
  const decodes = fc.property(any, (message) => {
    const found = decodeQuery(message)
    if (found !== undefined && !Buffer.isBuffer(found)) encodeUdp(found, { code: 'NXDOMAIN', records: [] })
  })
  t.doesNotThrow(() => fc.assert(decodes, { numRuns: 2000 }))
})

t.test('a name has at most 253 characters, with or without the dot at its end', async (t) => {
  const name = (length: number): string => `${'a.'.repeat(126)}${'b'.repeat(length - 252)}`
  t.equal(name(253).length, 253)
  for (const end of ['', '.']) {
    t.ok(isEncodable(`${name(253)}${end}`))
    t.notOk(isEncodable(`${name(254)}${end}`))
  }
})
