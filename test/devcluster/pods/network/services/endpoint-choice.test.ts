/** Tests of the choice of endpoints. */
import t from 'tap'
import { EndpointChoice } from '../../../../../src/devcluster/pods/network/services/endpoint-choice.ts'
import type { Endpoint } from '../../../../../src/devcluster/pods/network/services/usable-endpoints.ts'
import { FakeClock } from '../../../../../src/testing/fake-clock.ts'

const [a, b] = ['10.244.0.5', '10.244.0.6'].map((address): Endpoint => ({
  address,
  port: 80,
  isReady: true,
  isServing: true,
  isTerminating: false,
  zoneHints: [],
  nodeHints: [],
})) as [Endpoint, Endpoint]

/** Returns an `EndpointChoice` whose random numbers alternately select the first and the second endpoint. */
function alternating(clock = new FakeClock()) {
  let next = 0
  return new EndpointChoice({ clock, random: () => (next++ % 2) / 2, locationOf: () => undefined })
}

t.test('random numbers choose among all endpoints', async (t) => {
  const choice = alternating()
  t.notOk(choice.isServed)
  choice.update({ isLocal: false }, [a, b])
  t.ok(choice.isServed)
  t.strictSame([choice.choose('client'), choice.choose('client'), choice.choose('client')], [a, b, a])
  choice.update({ isLocal: false }, [])
  t.equal(choice.choose('client'), undefined)
})

t.test('with session affinity, a client keeps its endpoint until it has been idle for too long', async (t) => {
  const clock = new FakeClock()
  const choice = alternating(clock)
  const policy = { isLocal: false, affinitySeconds: 10 }
  choice.update(policy, [a, b])
  t.strictSame([choice.choose('one'), choice.choose('two')], [a, b])
  await clock.advance(9_000)
  t.strictSame([choice.choose('one'), choice.choose('one')], [a, a])
  await clock.advance(9_000)
  t.equal(choice.choose('one'), a, 'the time starts again with each connection')
  choice.update(policy, [b])
  t.equal(choice.choose('one'), b, 'the endpoint is gone')
  choice.update(policy, [a, b])
  t.equal(choice.choose('one'), b)
  await clock.advance(10_000)
  t.strictSame(
    [choice.choose('two'), choice.choose('one')].toSorted((x, y) => (x!.address < y!.address ? -1 : 1)),
    [a, b],
  )
})

t.test('with session affinity, the client that has been idle for the longest time is forgotten when there are too many', async (t) => {
  const maxClients = 65_536
  let random = 0
  const choice = new EndpointChoice({ clock: new FakeClock(), random: () => random, locationOf: () => undefined })
  choice.update({ isLocal: false, affinitySeconds: 10 }, [a, b])
  t.strictSame([choice.choose('first'), choice.choose('second')], [a, a])
  random = 0.5
  for (let number = 1; number < maxClients; number += 1) choice.choose(`client ${number}`)
  t.strictSame([choice.choose('second'), choice.choose('first')], [a, b])
})
