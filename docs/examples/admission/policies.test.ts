import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { core } from 'proreus'
import { startControlPlane, until } from 'proreus/testing'
import type { ControlPlane } from 'proreus/testing'
import { operator as policies } from './policies.ts'
import { operator as sites, site } from './site.ts'

let controlPlane: ControlPlane
before(async () => {
  controlPlane = await startControlPlane({ namespaces: ['test'] })
  await controlPlane.startOperator([sites, policies])
})
after(() => controlPlane.stop())

test('both handlers are heard', async () => {
  const { client } = controlPlane
  const created = await client.create(site, { metadata: { namespace: 'test', name: 'shop' }, spec: { host: '', replicas: 1 } })
  assert.equal(created.spec.host, 'shop.example.com')
  await client.patch(core.namespace, { name: 'test' }, { metadata: { labels: { sites: 'closed' } } })
  const refused = { metadata: { namespace: 'test', name: 'blog' }, spec: { host: 'my_blog', replicas: 1 } }
  await until('all errors are told at once', () =>
    client.create(site, refused, { dryRun: true }).then(
      () => false,
      ({ message }: Error) => /metadata\.namespace: Forbidden: takes no more Sites, spec\.host: Invalid value/.test(message),
    ),
  )
})

test('a Site is scaled down before it goes', async () => {
  const { client } = controlPlane
  const key = { namespace: 'test', name: 'shop' }
  await assert.rejects(client.delete(site, key), /denied the request: scale it to 0 first/)
  const scaleTo = (replicas: number) => client.patch(site, key, { spec: { replicas } }, { subresource: 'scale' })
  await assert.rejects(scaleTo(21), /spec\.replicas: Forbidden: ask for more than 20 first/)
  await scaleTo(0)
  await client.delete(site, key)
})
