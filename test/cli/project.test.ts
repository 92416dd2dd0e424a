import { join } from 'node:path'
import t from 'tap'
import { readProject } from '../../src/cli/project.ts'

t.test('operators and name are those of the package.json', async (t) => {
  const folder = t.testdir({
    'one.json': '{ "proreus": { "operators": "./a.ts", "name": "team-a" } }',
    'several.json': '{ "proreus": { "operators": ["./a.ts", "./b.ts"] } }',
    'none.json': '{ "name": "x" }',
  })
  t.strictSame(readProject(join(folder, 'one.json')), { operators: './a.ts', name: 'team-a' })
  t.strictSame(readProject(join(folder, 'several.json')), { operators: './a.ts,./b.ts' })
  t.strictSame(readProject(join(folder, 'none.json')), {})
  t.strictSame(readProject(join(folder, 'absent.json')), {})
})

t.test('what is wrong there is named', async (t) => {
  const cases: [string, RegExp][] = [
    ['{', /package\.json is not valid JSON: /],
    ['{ "proreus": 1 }', /"proreus" must be an object such as .*, found 1\.$/],
    ['{ "proreus": { "operator": "./a.ts" } }', /"proreus" has no field "operator": it may have "operators" and "name"\.$/],
    ['{ "proreus": { "operators": [1] } }', /"proreus\.operators" must be a string or a list of strings, found \[1\]\.$/],
    [
      '{ "proreus": { "operators": ["./a.ts", 1] } }',
      /"proreus\.operators" must be a string or a list of strings, found \["\.\/a\.ts",1\]\.$/,
    ],
    ['{ "proreus": { "name": 7 } }', /"proreus\.name" must be a string, found 7\.$/],
  ]
  for (const [text, message] of cases) {
    const folder = t.testdir({ 'package.json': text })
    t.throws(() => readProject(join(folder, 'package.json')), { code: 'PRO_CONFIG_INVALID', message }, text)
  }
})
