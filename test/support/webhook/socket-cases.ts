/** Generates malformed HTTP requests as chunks of bytes. A client sends the chunks one after the other. */
import { Buffer } from 'node:buffer'
import type { Dice } from '../dice.ts'

export interface SocketCase {
  readonly name: string
  readonly parts: readonly Buffer[]
  /** The maximum number of requests that a server may recognize in the bytes. */
  readonly requests: number
  /** Present if the bytes are sent without TLS. */
  readonly plain?: true
  /** Present if the client disconnects before it receives the response. */
  readonly gone?: true
}

export interface Target {
  readonly path: string
  readonly body: string
}

type Make = (dice: Dice, target: Target) => Omit<SocketCase, 'name'>

function request(
  { path, body }: Target,
  headers: readonly string[] = [],
  method = 'POST',
  length: number | string = Buffer.byteLength(body),
) {
  const lines = [`${method} ${path} HTTP/1.1`, 'Host: localhost', 'Content-Type: application/json', `Content-Length: ${length}`, ...headers]
  return `${lines.join('\r\n')}\r\n\r\n${body}`
}

function whole(text: string, requests = 1): Omit<SocketCase, 'name'> {
  return { parts: [Buffer.from(text, 'latin1')], requests }
}

function randomBytes(dice: Dice, max: number): Buffer {
  return Buffer.from(dice.times(max, () => dice.upTo(255)))
}

/** Returns a request with the header `Transfer-Encoding: chunked`. `body` is sent unchanged, so it must contain the chunk sizes. */
function chunked({ path }: Target, body: string, headers: readonly string[] = []): string {
  const lines = [`POST ${path} HTTP/1.1`, 'Host: localhost', 'Content-Type: application/json', 'Transfer-Encoding: chunked', ...headers]
  return `${lines.join('\r\n')}\r\n\r\n${body}`
}

const hidden = 'GET /hidden HTTP/1.1\r\nHost: x\r\n\r\n'

const makers: Readonly<Record<string, Make>> = {
  garbage: (dice) => ({ parts: [randomBytes(dice, 400)], requests: 1 }),
  truncated: (dice, target) => {
    const text = request(target)
    return whole(text.slice(0, dice.upTo(text.length - 1)))
  },
  pipelined: (dice, target) => {
    const count = 2 + dice.upTo(6)
    const texts = Array.from({ length: count }, () => (dice.chance(0.1) ? request(target).slice(0, 40) : request(target)))
    return whole(texts.join(''), count)
  },
  'two lengths': (dice, target) =>
    whole(request(target, [`Content-Length: ${dice.pick(['0', '5', '6, 6', '1e1', `${target.body.length}`])}`]) + hidden, 1),
  'length and chunks': (dice, target) => {
    const coding = dice.pick([
      'chunked',
      ' chunked',
      'Chunked',
      'chunked, identity',
      'identity, chunked',
      'xchunked',
      'chunked\t',
      '"chunked"',
    ])
    return whole(request(target, [`Transfer-Encoding: ${coding}`]) + `0\r\n\r\n${hidden}`, 1)
  },
  'odd lengths': (dice, target) =>
    whole(request(target, [], 'POST', dice.pick(['-1', '+5', '0x5', '5abc', '', '99999999999999999999', '1.5', '5 5'])) + hidden, 1),
  'odd header lines': (dice, target) =>
    whole(
      request(target, [
        dice.pick([
          'Transfer-Encoding : chunked',
          ' folded: x',
          'no colon',
          'a\u0000b: c',
          ': empty',
          'X: a\nTransfer-Encoding: chunked',
          'X: \u00ff\u00fe',
          'X: a\rb',
          'Trailer: x',
          'Content-Encoding: gzip',
        ]),
      ]),
      2,
    ),
  'bare line feeds': (_, target) => whole(request(target).replaceAll('\r\n', '\n')),
  'odd chunks': (dice, target) =>
    whole(
      chunked(
        target,
        dice.pick([
          `${'f'.repeat(17)}\r\n`,
          'ffffffffffffffff\r\nx',
          '-5\r\nabcde\r\n0\r\n\r\n',
          '5;a=b\r\nabcde\r\n0\r\n\r\n',
          `5;${'x'.repeat(20_000)}\r\nabcde\r\n0\r\n\r\n`,
          '5\nabcde\n0\n\n',
          '5\r\nabcdefgh\r\n0\r\n\r\n',
          '0\r\nTrailer: x\r\n\r\n',
          `0\r\n${'T: x\r\n'.repeat(5_000)}\r\n`,
          'xyz\r\n',
          ' 5\r\nabcde\r\n0\r\n\r\n',
          `${Buffer.byteLength(target.body).toString(16)}\r\n${target.body}\r\n0\r\n\r\n`,
          [...target.body].map((one) => `1\r\n${one}\r\n`).join('') + '0\r\n\r\n',
        ]),
      ),
      2,
    ),
  'many headers': (dice, target) =>
    whole(
      request(
        target,
        Array.from({ length: dice.pick([100, 3000]) }, (_, index) => `X-${index}: y`),
      ),
    ),
  'a long header': (_, target) => whole(request(target, [`X: ${'y'.repeat(100_000)}`])),
  'slow bytes': (dice, target) => {
    const bytes = Buffer.from(request(target))
    const size = dice.pick([1, 7, 64])
    const upTo = Math.min(bytes.length, size * 60)
    const parts = Array.from({ length: Math.ceil(upTo / size) }, (_, index) =>
      bytes.subarray(index * size, Math.min(upTo, (index + 1) * size)),
    )
    return { parts: dice.chance(0.5) ? [...parts, bytes.subarray(upTo)] : parts, requests: 1 }
  },
  methods: (dice, target) =>
    whole(
      request(
        target,
        [],
        dice.pick([
          'GET',
          'HEAD',
          'PUT',
          'DELETE',
          'OPTIONS',
          'TRACE',
          'CONNECT',
          'PATCH',
          'FOO',
          'post',
          'M-SEARCH',
          '',
          'POST\t',
          'QUERY',
        ]),
      ),
    ),
  versions: (dice, target) =>
    whole(
      request(target).replace('HTTP/1.1', dice.pick(['HTTP/1.0', 'HTTP/0.9', 'HTTP/2.0', 'HTTP/9.9', 'HTTP/1', 'http/1.1', '', 'ICE/1.0'])),
      2,
    ),
  urls: (dice, target) =>
    whole(
      request({
        ...target,
        path: dice.pick([
          '*',
          '/',
          '//',
          'http://other/x',
          `${target.path}/../x`,
          '/%00',
          '/%zz',
          '/\u00ff',
          `/${'a'.repeat(100_000)}`,
          `${target.path}?${'a=b&'.repeat(2_000)}`,
          `${target.path}#x`,
          `${target.path}%2f`,
          target.path.toUpperCase(),
          '',
        ]),
      }),
    ),
  bodies: (dice, target) => {
    const bytes = dice.pick([
      Buffer.from([0xff, 0xfe, 0x80, 0xc0, 0xaf]),
      Buffer.concat([Buffer.from(target.body.slice(0, 50)), randomBytes(dice, 20), Buffer.from(target.body.slice(50))]),
      Buffer.from(`\ufeff${target.body}`),
      Buffer.from(target.body, 'utf16le'),
      Buffer.from('['.repeat(50_000)),
      Buffer.alloc(0),
      Buffer.from('"\\ud800"'),
    ])
    const head = request({ ...target, body: '' }, [], 'POST', bytes.length)
    return { parts: [Buffer.from(head), bytes], requests: 1 }
  },
  'lengths that lie': (dice, target) => {
    const length = Buffer.byteLength(target.body) + dice.pick([-5, -1, 1, 100, 7 * 1024 * 1024, 8 * 1024 * 1024])
    return whole(request(target, [], 'POST', length), 2)
  },
  'content types': (dice, target) =>
    whole(
      request(target).replace(
        'application/json',
        dice.pick([
          '',
          'x',
          'application/json;',
          'application/json; charset=utf-16',
          'multipart/form-data; boundary=x',
          'text/plain',
          'application/json, text/plain',
          '\u0001',
        ]),
      ),
    ),
  expectations: (dice, target) => whole(request(target, [`Expect: ${dice.pick(['100-continue', '200-ok', ''])}`]), 2),
  upgrades: (dice, target) =>
    whole(
      dice.pick([
        request(target, ['Connection: Upgrade', 'Upgrade: websocket']),
        request(target, ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAAP__']),
        'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
      ]),
      2,
    ),
  'gone before the answer': (dice, target) => {
    const text = request(target)
    return { parts: [Buffer.from(dice.chance(0.5) ? text : text.slice(0, dice.upTo(text.length)))], requests: 1, gone: true }
  },
  'no TLS': (dice, target) => ({
    parts: [
      dice.pick([
        Buffer.from(request(target)),
        randomBytes(dice, 300),
        Buffer.from('160301020001', 'hex'),
        Buffer.from([22, 3, 1, 0xff, 0xff, 1]),
      ]),
    ],
    requests: 0,
    plain: true,
  }),
}

const names = Object.keys(makers)

export function socketCase(dice: Dice, target: Target): SocketCase {
  const name = dice.pick(names)
  return { name, ...makers[name]!(dice, target) }
}
