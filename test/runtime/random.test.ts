import t from 'tap'
import { newUuid, randomStreams, systemRandom } from '../../src/runtime/random.ts'
import { Dice } from '../support/dice.ts'

const version4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

t.test('a UUID has the version and variant of a random one, whatever the numbers are', async (t) => {
  t.equal(
    newUuid(() => 0),
    '00000000-0000-4000-8000-000000000000',
  )
  t.equal(
    newUuid(() => 1 - Number.EPSILON),
    'ffffffff-ffff-4fff-bfff-ffffffffffff',
  )
  const uuids = Array.from({ length: 1000 }, () => newUuid(systemRandom))
  for (const uuid of uuids) if (!version4.test(uuid)) t.fail(uuid)
  t.equal(new Set(uuids).size, 1000)
})

t.test('the same numbers give the same UUIDs', async (t) => {
  const uuids = (seed: number): string[] => {
    const dice = new Dice(seed)
    return Array.from({ length: 3 }, () => newUuid(() => dice.next()))
  }
  t.strictSame(uuids(1), uuids(1))
  t.not(uuids(1)[0], uuids(2)[0])
  t.equal(new Set(uuids(1)).size, 3)
})

t.test('the streams of one `random` differ, and none depends on the use of another', async (t) => {
  const streams = (seed: number): ((name: string) => () => number) => {
    const dice = new Dice(seed)
    return randomStreams(() => dice.next())
  }
  const take = (next: () => number): number[] => Array.from({ length: 20 }, next)
  const [alone, beside, other] = [streams(1), streams(1), streams(2)]
  take(beside('b'))
  const numbers = take(alone('a'))
  t.strictSame(take(beside('a')), numbers)
  for (const different of [take(alone('a')), take(alone('b')), take(other('a'))]) t.strictNotSame(different, numbers)
  t.ok(numbers.every((number) => number >= 0 && number < 1))
  t.equal(new Set(numbers).size, 20)
})
