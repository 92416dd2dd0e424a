import t from 'tap'
import { PodAddresses } from '../../../src/devcluster/controllers/pod-addresses.ts'

t.test('addresses are unique, stay with their Pod, and are given again when it is gone', async (t) => {
  const addresses = new PodAddresses()
  t.equal(addresses.addressOf('a'), '10.244.0.2')
  t.equal(addresses.addressOf('b'), '10.244.0.3')
  t.equal(addresses.addressOf('a'), '10.244.0.2')
  addresses.release('a')
  t.equal(addresses.addressOf('c'), '10.244.0.2')
  t.equal(addresses.addressOf('d'), '10.244.0.4')
})

t.test('an address that a Pod already has is kept, and not given to another', async (t) => {
  const addresses = new PodAddresses()
  t.equal(addresses.addressOf('old', '10.244.0.2'), '10.244.0.2')
  t.equal(addresses.addressOf('new'), '10.244.0.3')
})

t.test('there is room for more than one byte', async (t) => {
  const addresses = new PodAddresses()
  const all = new Set(Array.from({ length: 600 }, (_, index) => addresses.addressOf(String(index))))
  t.equal(all.size, 600)
  t.ok(all.has('10.244.2.1'))
})
