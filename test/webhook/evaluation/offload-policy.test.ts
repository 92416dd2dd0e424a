import t from 'tap'
import { isSoonEvaluated, looksOrdinary } from '../../../src/webhook/evaluation/offload-policy.ts'
import { Dice } from '../../support/dice.ts'

function list(count: number, at: (index: number) => string): string {
  return `[${Array.from({ length: count }, (_, index) => at(index)).join(',')}]`
}

function containers(count: number): string {
  return list(
    count,
    (i) => `{"name":"c${i}","image":"registry.local/team/service:${i}","ports":[{"port":${i}}],"env":[{"name":"A","value":"b"}]}`,
  )
}

const cases: readonly (readonly [string, string, boolean])[] = [
  ['containers', containers(3000), true],
  ['new names', list(20_000, (i) => `{"name${i}":1}`), false],
  ['half of it new names', list(10_000, (i) => `{"name${i}":1}`) + list(10_000, () => '{"name":1}'), false],
  ['short values', list(50_000, () => '{"a":1}'), false],
  ['short texts', list(50_000, () => '"a"'), false],
  ['numbers', list(50_000, String), false],
  ['new names with an escaped quote', list(20_000, (i) => `{"name${i}\\"":1}`), false],
  ['new names before a space', list(20_000, (i) => `{"name${i}" :1}`), false],
  ['new names far from their colons', list(5000, (i) => `{"name${i}"${' '.repeat(100)}:1}`), false],
  [
    'escaped quotes in values',
    list(3000, (i) => `{"name":"c${i}","command":"echo \\"there it is, and then some\\"","image":"team/service:${i}"}`),
    true,
  ],
  [
    'a quarter of it new names',
    list(10_000, (i) => (i % 4 === 0 ? `{"n${i}":"some words that stand here"}` : '{"name":"some words that stand here"}')),
    false,
  ],
  ['more values than are soon evaluated', list(45_000, (i) => `{"name":"${i}"}`), false],
  ['levels', '{"a":'.repeat(20_000) + '}'.repeat(20_000), false],
  ['one long text', `["${'x'.repeat(200_000)}"]`, false],
  ['a long text among containers', `["${'x'.repeat(200_000)}",${containers(5000)}]`, false],
]

t.test('a body of few distinct names and of long values looks ordinary', (t) => {
  for (const [name, text, ordinary] of cases) {
    for (let seed = 1; seed <= 5; seed += 1) {
      const dice = new Dice(seed)
      t.equal(
        looksOrdinary(Buffer.from(text), () => dice.next()),
        ordinary,
        name,
      )
    }
  }
  t.end()
})

/**
 * Returns the result of `looksOrdinary` for a body of `length` bytes. `places` defines the samples that `looksOrdinary` reads from the
 * body.
 *
 * @param places the samples. If `name` is present, the sample begins with the field name `name`. The next `values` characters of the sample
 *   are `,`, `[` or `{`. `looksOrdinary` counts each of these characters as the beginning of a value.
 */
function looksOrdinaryIn(places: readonly { readonly name?: string; readonly values?: number }[], length = 96 * 97): boolean {
  const bytes = Buffer.alloc(length, 'x')
  places.forEach(({ name, values = 0 }, place) =>
    bytes.write(`${name === undefined ? '' : `"${name}" :`}${',[{'.repeat(2).slice(0, values)}`, place * 96),
  )
  let place = -1
  return looksOrdinary(bytes, () => ((place += 1), (place * 96 + 0.5) / (length - 96)))
}

const places = (count: number, at: (place: number) => { name?: string; values?: number }): { name?: string; values?: number }[] =>
  Array.from({ length: count }, (_, place) => at(place))

t.test('twelve of 96 places may lack a name, and twelve may have a unique one', (t) => {
  const nameless = (count: number): boolean => looksOrdinaryIn(places(96, (place) => (place < count ? {} : { name: 'name' })))
  t.strictSame([nameless(0), nameless(12), nameless(13)], [true, true, false])
  const single = (count: number): boolean => looksOrdinaryIn(places(96, (place) => ({ name: place < count ? `n${place}` : 'name' })))
  t.strictSame([single(12), single(13)], [true, false])
  t.equal(looksOrdinaryIn(places(96, (place) => ({ name: `n${place >> 1}` }))), true, 'a name that occurs twice is not unique')
  t.end()
})

t.test('the number of values is extrapolated from the sampled places', (t) => {
  const name = 'name'
  // Each of the 96 sampled places has 96 bytes with 6 values. For 960,000 bytes, the estimate is therefore 60,000 values.
  t.equal(
    looksOrdinaryIn(
      places(96, () => ({ name, values: 6 })),
      960_000,
    ),
    true,
  )
  t.equal(
    looksOrdinaryIn(
      places(96, () => ({ name, values: 6 })),
      960_100,
    ),
    false,
  )
  t.equal(
    looksOrdinaryIn(
      places(96, (place) => ({ name, values: place === 0 ? 5 : 6 })),
      960_100,
    ),
    true,
  )
  t.end()
})

t.test('a name is a quoted string before a colon', (t) => {
  for (const [text, ordinary] of [
    ['"name":1', true],
    ['"name" \n\t:1', true],
    ['"x","name":1', true],
    ['"name"1:1', false],
    ['name":1', false],
    ['\\"name":1', false],
    ['"x\\":1', false],
    ['"name"', false],
  ] as const)
    t.equal(
      looksOrdinary(Buffer.from(text), () => 0),
      ordinary,
      text,
    )
  t.end()
})

t.test('a body up to 128 KiB is evaluated inline whatever it contains, one above 1 MiB never', (t) => {
  const kibibyte = 1024
  t.equal(isSoonEvaluated(Buffer.alloc(0)), true)
  t.equal(isSoonEvaluated(Buffer.alloc(128 * kibibyte, 'x')), true)
  t.equal(isSoonEvaluated(Buffer.alloc(128 * kibibyte + 1, 'x')), false)
  const ordinary = Buffer.from(list(20_000, (i) => `{"name":"VARIABLE_${i}","value":"value-${i}-of-the-container"}`))
  t.equal(isSoonEvaluated(ordinary.subarray(0, 1024 * kibibyte)), true)
  t.equal(isSoonEvaluated(ordinary.subarray(0, 1024 * kibibyte + 1)), false)
  t.end()
})
