import t from 'tap'
import { createLogger } from '../../src/telemetry/logger.ts'
import { redact } from '../../src/telemetry/redact.ts'

t.test('what has no secrets is copied as it is', async (t) => {
  const shared = { a: 1 }
  const value = { first: shared, second: shared, list: [shared, [shared]] }
  t.strictSame(redact(value), value)
})

t.test('cycles are cut, and secrets inside of them are taken out all the same', async (t) => {
  const parent: Record<string, unknown> = { name: 'parent', token: 'hidden' }
  parent['child'] = { name: 'child', parent, siblings: [parent] }
  const child = { name: 'child', parent: '[circular]', siblings: ['[circular]'] }
  t.strictSame(redact(parent), { name: 'parent', token: '[redacted]', child })
})

t.test('objects that all refer to each other take no time, nor does a line of them', async (t) => {
  const nodes: Record<string, unknown>[] = Array.from({ length: 40 }, (_, id) => ({ id, token: 'hidden' }))
  for (const node of nodes) node['all'] = [...nodes]
  const lines: string[] = []
  createLogger({ destination: { write: (line) => void lines.push(line) } }).info({ nodes }, 'many')
  t.notMatch(lines[0], /hidden/)
  t.match(lines[0], /\[too large\]/)
  t.ok(lines[0]!.length < 1_000_000, `${lines[0]!.length} characters`)
})

t.test('shared objects without a cycle take no time either', async (t) => {
  let value: unknown = { password: 'hidden' }
  for (let level = 0; level < 11; level += 1) value = Array.from({ length: 30 }, () => value)
  t.notMatch(JSON.stringify(redact(value)), /hidden/)
})

t.test('what is too large or too deep is cut off', async (t) => {
  const long = redact({ list: Array.from({ length: 100_000 }, (_, index) => index) })
  t.equal(long.list.at(-1), '[too large]')
  t.ok(long.list.length < 11_000)
  const wide = redact(Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`key-${index}`, { token: 'hidden' }])))
  t.equal(wide['…'], '[too large]')
  t.notMatch(JSON.stringify(wide), /hidden/)
  const keys = Array.from({ length: 9_000 }, (_, index) => `${'k'.repeat(300)}${index}`)
  for (const named of [Object.fromEntries(keys.map((key) => [key, 1])), new Map(keys.map((key) => [key, 1]))]) {
    const line = JSON.stringify(redact(named))
    t.ok(line.length < 270_000, `${line.length} characters of keys`)
    t.ok(line.endsWith('"…":"[too large]"}'), line.slice(-40))
  }
  let deep: unknown = { password: 'hidden' }
  for (let level = 0; level < 50; level += 1) deep = { deep }
  t.match(JSON.stringify(redact(deep)), /"\[too deep\]"/)
})
