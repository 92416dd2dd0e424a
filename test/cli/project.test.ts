import { join } from 'node:path'
import t from 'tap'
import type { ProreusError } from '../../src/api/errors.ts'
import { readProject } from '../../src/cli/project.ts'

t.test('operators and name are read from package.json', async (t) => {
  const folder = t.testdir({
    'one.json': '{ "proreus": { "operators": "./a.ts", "name": "team-a" } }',
    'several.json': '{ "proreus": { "operators": ["./a.ts", "./b.ts"] } }',
    'list.json': '[1]',
    'name.json': '{ "proreus": { "name": "team-b" } }',
    'none.json': '{ "name": "x" }',
  })
  t.strictSame(readProject(join(folder, 'one.json')), { operators: './a.ts', name: 'team-a' })
  t.strictSame(readProject(join(folder, 'several.json')), { operators: './a.ts,./b.ts' })
  t.strictSame(readProject(join(folder, 'none.json')), {})
  t.strictSame(readProject(join(folder, 'absent.json')), {})
  t.strictSame(readProject(join(folder, 'list.json')), {})
  t.strictSame(readProject(join(folder, 'name.json')), { name: 'team-b' })
})

t.test('invalid settings are reported with the path', async (t) => {
  const cases: [string, string | RegExp][] = [
    ['{', /^PATH is not valid JSON: [^\n]*[^.]\.$/],
    ['{ "proreus": 1 }', 'PATH: "proreus" must be an object such as { "operators": "./my-operator.ts" }, found 1.'],
    ['{ "proreus": null }', 'PATH: "proreus" must be an object such as { "operators": "./my-operator.ts" }, found null.'],
    ['{ "proreus": { "operator": "./a.ts" } }', 'PATH: "proreus" has no field "operator": it may have "operators" and "name".'],
    ['{ "proreus": { "operators": 1 } }', 'PATH: "proreus.operators" must be a string or a list of strings, found 1.'],
    ['{ "proreus": { "operators": [1] } }', 'PATH: "proreus.operators" must be a string or a list of strings, found [1].'],
    [
      '{ "proreus": { "operators": ["./a.ts", 1] } }',
      'PATH: "proreus.operators" must be a string or a list of strings, found ["./a.ts",1].',
    ],
    ['{ "proreus": { "name": 7 } }', 'PATH: "proreus.name" must be a string, found 7.'],
  ]
  for (const [text, message] of cases) {
    const path = join(t.testdir({ 'package.json': text }), 'package.json')
    try {
      readProject(path)
      t.fail(text)
    } catch (error) {
      const { code, message: actual } = error as ProreusError
      t.equal(code, 'PRO_CONFIG_INVALID')
      if (typeof message === 'string') t.equal(actual.replace(path, 'PATH'), message)
      else t.match(actual.replace(path, 'PATH'), message)
    }
  }
})
