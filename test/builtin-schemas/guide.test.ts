/**
 * Tests of the guide about built-in types. Each example in the guide must be equal to the file that the guide names for this example. The
 * command in the guide must print the output that the guide shows. The operator in the guide must work.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { operator, site } from '../../docs/examples/built-in-types/site.ts'
import { deployment } from '../../src/api/builtin.ts'
import { startControlPlane, until } from '../../src/testing/index.ts'
import { rulesOfOperators } from '../../src/testing/operator.ts'
import { proreus, repository } from '../support/process/process.ts'

const guide = readFileSync(join(repository, 'docs/guides/built-in-types.md'), 'utf8')
const files = [...guide.matchAll(/<!-- (\S+) -->\n```\w+\n([\s\S]*?)```/g)].map(([, name, source]) => ({ name: name!, source: source! }))

t.test('the examples match their files', async (t) => {
  t.equal(files.length, 2)
  for (const { name, source } of files) t.equal(source, readFileSync(join(repository, name), 'utf8'), name)
})

t.test('the command prints the shown output', async (t) => {
  const [, shown] = /\$ proreus validate [^\n]*\n([\s\S]*?)```/.exec(guide)!
  const [operator, manifest] = files.map(({ name }) => name)
  const { code, stdout } = await proreus(['validate', manifest!, '--operators', `./${operator!}`])
  t.equal(code, 1)
  t.equal(stdout.replace(manifest!, 'site-with-mistakes.yaml').trim(), shown!.trim())
})

t.test('the operator applies only changes, and removes fields that are no longer in the template', async (t) => {
  const serviceAccounts = [{ name: 'default/site', rules: rulesOfOperators([operator]) }]
  const controlPlane = await startControlPlane({ serviceAccounts })
  t.teardown(() => controlPlane.stop())
  await controlPlane.startOperator([operator], { connection: controlPlane.connectionFor({ serviceAccount: 'default/site' }) })
  const { client } = controlPlane
  const key = { namespace: 'default', name: 'shop' }
  const applies = async (): Promise<number> =>
    (await controlPlane.requests()).filter(
      ({ user, verb, path }) => user === 'system:serviceaccount:default:site' && verb === 'patch' && path.endsWith('/deployments/shop'),
    ).length
  const spec = { nodeSelector: { project: 'test' }, containers: [{ name: 'web', image: 'nginx' }] }
  await client.create(site, { metadata: key, spec: { replicas: 1, template: { spec } } })
  await until('it is deployed', () => client.get(deployment, key).catch(() => undefined))

  // The operator of the example does not write after the first patch. It writes after the second patch.
  await client.patch(deployment, key, { metadata: { labels: { team: 'web' } } })
  await client.patch(deployment, key, { spec: { replicas: 3 } })
  await until('it is put right', async () => (await client.get(deployment, key)).spec?.replicas === 1)
  t.equal(await applies(), 2)

  await client.patch(site, key, { spec: { template: { spec: { nodeSelector: null } } } })
  await until('it is gone', async () => (await client.get(deployment, key)).spec?.template.spec?.nodeSelector === undefined)
  t.equal(await applies(), 3)
})
