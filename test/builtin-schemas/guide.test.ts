/** The guide about built-in types: its example is the file that it names, and prints what it shows. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { proreus, repository } from '../support/process.ts'

const guide = readFileSync(join(repository, 'docs/guides/built-in-types.md'), 'utf8')
const files = [...guide.matchAll(/<!-- (\S+) -->\n```\w+\n([\s\S]*?)```/g)].map(([, name, source]) => ({ name: name!, source: source! }))

t.test('its examples are as shown', async (t) => {
  t.equal(files.length, 2)
  for (const { name, source } of files) t.equal(source, readFileSync(join(repository, name), 'utf8'), name)
})

t.test('the command says what it shows', async (t) => {
  const [, shown] = /\$ proreus validate [^\n]*\n([\s\S]*?)```/.exec(guide)!
  const [operator, manifest] = files.map(({ name }) => name)
  const { code, stdout } = await proreus(['validate', manifest!, '--operators', `./${operator!}`])
  t.equal(code, 1)
  t.equal(stdout.replace(manifest!, 'site-with-mistakes.yaml').trim(), shown!.trim())
})
