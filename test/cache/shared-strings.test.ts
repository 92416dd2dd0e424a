/** Tests that `SharedStrings` freezes values without any other visible change, and that equal strings share memory. */
import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { fc } from '../support/property.ts'
import t from 'tap'
import { SharedStrings } from '../../src/cache/shared-strings.ts'
import { eventually } from '../support/eventually.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

function usedBytes(): number {
  collect()
  return getHeapStatistics().used_heap_size
}

/** Parses the JSON. Each call creates new values, which share no memory with the values of other calls. */
const parsed = (json: string): unknown => JSON.parse(json)

/** Returns the number of bytes of memory that the values of `json` use after `freeze` has frozen them. */
function bytesOf(json: readonly string[], freeze: (value: unknown) => unknown): number {
  const values = new Array<unknown>(json.length)
  const before = usedBytes()
  for (let index = 0; index < json.length; index += 1) values[index] = freeze(parsed(json[index]!))
  const bytes = usedBytes() - before
  // The values must be in use until the memory has been measured. Without this line, the garbage collector could free the values earlier.
  if (values.includes(undefined)) throw new Error('A value is missing.')
  return bytes
}

t.test('a frozen value is equal to the original one, whatever was frozen before', async (t) => {
  const strings = new SharedStrings()
  fc.assert(
    fc.property(fc.json({ stringUnit: 'binary' }), (json) => {
      t.strictSame(strings.freeze(parsed(json)), parsed(json))
      t.strictSame(JSON.stringify(strings.freeze(parsed(json))), JSON.stringify(parsed(json)))
    }),
  )
})

t.test('all objects and arrays of a value are frozen', async (t) => {
  const value = new SharedStrings().freeze({ list: [{ name: 'a name that is remembered' }], empty: {}, none: null })
  for (const part of [value, value.list, value.list[0], value.empty]) t.equal(Object.isFrozen(part), true)
  t.equal(new SharedStrings().freeze('text'), 'text')
  t.equal(new SharedStrings().freeze(undefined), undefined)
})

t.test('a value with many objects is frozen in several iterations of the event loop', async (t) => {
  let iterations = 0
  const count = (): void => void (iterations += 1)
  const list = Array.from({ length: 100_000 }, () => ({ name: 'a name that is remembered', inner: {} }))
  const value = new SharedStrings().freeze({ list })
  t.equal(Object.isFrozen(value), true)
  t.ok(list.filter((each) => Object.isFrozen(each)).length <= 5_000)
  await eventually(() => {
    count()
    return list.every((each) => Object.isFrozen(each) && Object.isFrozen(each.inner))
  })
  t.ok(iterations > 1, `${iterations} iterations`)
})

t.test('frozen parts remain unchanged, so they may be used by other values, too', async (t) => {
  const list = Object.freeze(['a string that is remembered'])
  t.equal(new SharedStrings().freeze({ list }).list, list)
})

t.test('a key like __proto__ is an ordinary one', async (t) => {
  const value = new SharedStrings().freeze(parsed('{"__proto__":"a string that is remembered"}')) as object
  t.strictSame(Object.entries(value), [['__proto__', 'a string that is remembered']])
  t.equal(Object.getPrototypeOf(value), Object.prototype)
})

t.test('equal strings of different values are in memory only once', async (t) => {
  // Node.js itself can allocate several hundred kilobytes during a measurement. This is far less than the memory that the shared strings
  // save.
  const count = 20_000
  const json = Array.from({ length: count }, (_, index) => JSON.stringify({ image: 'x'.repeat(200), name: `a name that differs ${index}` }))
  const strings = new SharedStrings()
  const [shared, apart] = [bytesOf(json, (value) => strings.freeze(value)), bytesOf(json, (value) => value)]
  t.ok(apart - shared > count * 150, `${apart} bytes apart, ${shared} bytes shared`)
})

t.test('the memory of remembered strings is limited', async (t) => {
  const strings = new SharedStrings()
  const before = usedBytes()
  for (let index = 0; index < 20_000; index += 1) {
    for (const length of [200, 2000]) strings.freeze(parsed(JSON.stringify([`${index}`.padStart(length, 'x')])))
  }
  const bytes = usedBytes() - before
  t.ok(bytes < 1_500_000, `${bytes} bytes`)
  t.strictSame(strings.freeze(['end']), ['end'])
})
