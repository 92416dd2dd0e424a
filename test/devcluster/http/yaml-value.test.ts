/** Tests of the conversion of values to YAML. YAML 1.1 parsers must read the same values from the text. */
import t from 'tap'
import { parse } from 'yaml'
import type { JsonValue } from '../../../src/api/json.ts'
import { yamlValue } from '../../../src/devcluster/http/yaml-value.ts'

t.test('lists and objects take a line for each value', (t) => {
  for (const [value, yaml] of [
    ['map', 'map\n'],
    [true, 'true\n'],
    [['a', 'b'], '- a\n- b\n'],
    [{ group: '', kind: 'Foo' }, 'group: ""\nkind: Foo\n'],
    [[{ a: 'b', c: { d: ['e'] } }], '- a: b\n  c:\n    d:\n      - e\n'],
    [[['a'], [], {}], '- - a\n- []\n- {}\n'],
  ] as const)
    t.equal(yamlValue(value as JsonValue), yaml)
  t.end()
})

t.test('every value is read back', (t) => {
  const texts =
    'yes|No|on|y|n|~|null|True|a: b|# x|a #b|1|1e3|0x1f|1:30|2020-01-01|=|<<|@a|`|%d|&a|*a|!x|>|{a}|[b]|a,b|é|- x|it\'s|"q"| lead|trail |a:|.5|-1'
  const strings = [
    ...texts.split('|'),
    '',
    '|',
    'a\nb',
    '\t',
    '\\',
    '\u0000',
    '\u007f',
    '\u0085',
    '\u2028',
    '\ufeff',
    '😀',
    'a b (c) d/e.f',
  ]
  for (const [index, text] of strings.entries()) {
    t.equal(parse(yamlValue(text), { version: '1.1' }), text, `text ${index}`)
    t.strictSame(parse(yamlValue({ a: [text], [text]: text }), { version: '1.1' }), { a: [text], [text]: text }, `text ${index}`)
  }
  for (const number of [0, -1, 1.5, 300, 1e21, -2.5e-7]) t.equal(parse(yamlValue(number)), number)
  t.end()
})

t.test('deep values have a short indentation', (t) => {
  let value: JsonValue = 'x'
  for (let depth = 0; depth < 100; depth += 1) value = depth % 2 === 0 ? [value] : { a: value }
  const yaml = yamlValue(value)
  t.strictSame(parse(yaml, { version: '1.1' }), value)
  t.ok(yaml.length < 2000)
  t.end()
})
