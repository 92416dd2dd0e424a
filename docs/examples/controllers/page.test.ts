import { after, before, test } from 'node:test'
import { core } from 'proreus'
import { startControlPlane, until } from 'proreus/testing'
import type { ControlPlane } from 'proreus/testing'
import { operator, page } from './page.ts'

const key = { namespace: 'test', name: 'home' }
const theme = { namespace: 'test', name: 'summer' }

let controlPlane: ControlPlane
before(async () => {
  controlPlane = await startControlPlane({ namespaces: ['test'] })
  await controlPlane.startOperator([operator])
})
after(() => controlPlane.stop())

const colourOf = (colour: string) =>
  until(`the page is ${colour}`, async () => (await controlPlane.client.get(page, key)).status?.colour === colour)

test('a Page follows its theme', async () => {
  const { client } = controlPlane
  await client.create(page, { metadata: key, spec: { host: 'example.com', theme: 'summer' } })
  await colourOf('grey')
  await client.create(core.configMap, { metadata: theme, data: { colour: 'yellow' } })
  await colourOf('yellow')
  await client.patch(core.configMap, theme, { data: { colour: 'red' } })
  await colourOf('red')
})

test('a host has one Page', async () => {
  const { client } = controlPlane
  const second = { metadata: { ...key, name: 'second' }, spec: { host: 'example.com', theme: 'winter' } }
  await until('the second is refused', () =>
    client.create(page, second, { dryRun: true }).then(
      () => false,
      ({ message }: Error) => message.includes('spec.host: Duplicate value: "example.com"'),
    ),
  )
  // The webhook does not compare a Page with itself, so the existing Page can still be changed.
  await client.patch(page, key, { spec: { theme: 'winter' } })
})

test('a Page closes', async () => {
  const { client } = controlPlane
  await client.patch(page, key, { spec: { closesAt: new Date(Date.now() + 1_000).toISOString() } })
  await until('it is closed', async () => (await client.get(page, key)).status?.open === false)
})
