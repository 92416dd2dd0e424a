import { after, before, test } from 'node:test'
import { apiextensions, core, resourceType } from 'proreus'
import { rulesOfOperators, startControlPlane, until } from 'proreus/testing'
import type { ControlPlane, ControlPlaneBackend } from 'proreus/testing'
import { census, operator } from './census.ts'

const backend = (process.env['PROREUS_BACKEND'] ?? 'embedded') as ControlPlaneBackend
const key = (name: string) => ({ namespace: 'test', name })

let controlPlane: ControlPlane
before(async () => {
  const serviceAccounts = [{ name: 'system/census', rules: rulesOfOperators([operator]) }]
  controlPlane = await startControlPlane({ backend, controllers: false, namespaces: ['system', 'test'], serviceAccounts })
  await controlPlane.startOperator([operator], { connection: controlPlane.connectionFor({ serviceAccount: 'system/census' }) })
})
after(() => controlPlane.stop())

const countOf = async (name: string) => (await controlPlane.client.get(census, key(name))).status?.count

test('a Census counts the objects of a type that was unknown when the operator started', async () => {
  const { client } = controlPlane
  const spec = { group: '', version: 'v1', kind: 'Secret', plural: 'secrets' }
  await client.create(census, { metadata: key('secrets'), spec })
  const before = (await client.list(core.secret)).items.length
  await until('all are counted', async () => (await countOf('secrets')) === before, 60_000)
  await client.create(core.secret, { metadata: key('another') })
  await until('a new one is counted', async () => (await countOf('secrets')) === before + 1)
  await client.delete(core.secret, key('another'))
  await until('a deleted one is not', async () => (await countOf('secrets')) === before)
})

test('a type may be defined later, and counted from then on', async () => {
  const { client } = controlPlane
  const spec = { group: 'example.org', version: 'v1', kind: 'Late', plural: 'lates' }
  const late = resourceType(spec)
  await client.create(census, { metadata: key('late'), spec })
  const names = { kind: 'Late', listKind: 'LateList', plural: 'lates', singular: 'late' }
  const schema = { openAPIV3Schema: { type: 'object' } }
  const versions = [{ name: 'v1', served: true, storage: true, schema }]
  await client.create(apiextensions.customResourceDefinition, {
    metadata: { name: 'lates.example.org' },
    spec: { group: 'example.org', scope: 'Namespaced', names, versions },
  })
  await until('it is served', () => client.create(late, { metadata: key('first') }))
  await until('it is counted', async () => (await countOf('late')) === 1, 60_000)
  await client.delete(census, key('late'))
  await until('it is finalized', async () => (await client.list(census)).items.every(({ metadata }) => metadata.name !== 'late'))
})
