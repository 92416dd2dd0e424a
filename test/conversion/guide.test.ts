/** Tests that the conversion guide contains the example file, and that the command line generates a CRD from this file. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import type { JsonObject } from '../../src/api/json.ts'
import { proreus, repository } from '../support/process/process.ts'

const example = 'docs/examples/conversion.ts'
const guide = readFileSync(join(repository, 'docs/guides/conversion.md'), 'utf8')

t.test('the example is the one in the guide', async (t) => {
  const shown = /<!-- (\S+) -->\n```ts\n([\s\S]*?)```/.exec(guide)
  t.equal(shown?.[1], example)
  t.equal(shown?.[2], readFileSync(join(repository, example), 'utf8'))
})

t.test('a CRD with its conversion webhook is generated from the example', async (t) => {
  const cwd = t.testdir()
  const { code, stderr } = await proreus(['generate', '--operators', join(repository, example), '--output', 'out'], { cwd })
  t.equal(code, 0, stderr)
  const crd = parse(readFileSync(join(cwd, 'out/crd/bases/example.com_backups.yaml'), 'utf8')) as JsonObject
  t.match(crd.spec, { conversion: { strategy: 'Webhook', webhook: { clientConfig: { service: { path: '/convert' } } } } })
})
