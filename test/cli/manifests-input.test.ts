import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { readManifests } from '../../src/cli/manifests-input.ts'

t.test('integers beyond 2^53 are read exactly', async (t) => {
  const cases: [string, string][] = [
    [
      'a.yaml',
      'apiVersion: v1\nkind: A\nspec: {a: 9007199254740993, b: 3, c: [-9223372036854775808], d: 9223372036854775808, e: "9007199254740993", 12: 1.5}\n',
    ],
    [
      'a.json',
      '{"apiVersion":"v1","kind":"A","spec":{"a":9007199254740993,"b":3,"c":[-9223372036854775808],"d":9223372036854775808,"e":"9007199254740993","12":1.5}}',
    ],
  ]
  const folder = t.testdir()
  for (const [name, content] of cases) {
    await writeFile(join(folder, name), content)
    const found = []
    for await (const input of readManifests([join(folder, name)])) found.push(input)
    t.match(found, [
      { object: { spec: { a: 9007199254740993n, b: 3, c: [-9223372036854775808n], d: 2 ** 63, e: '9007199254740993', '12': 1.5 } } },
    ])
  }
})
