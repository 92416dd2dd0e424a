import t from 'tap'
import { PodAddresses } from '../../../../src/devcluster/controllers/kubelet/pod-addresses.ts'

t.test('a Pod keeps its unique address, which is reused after the Pod is gone', async (t) => {
  const addresses = new PodAddresses()
  t.equal(addresses.addressOf('a'), '10.244.0.2')
  t.equal(addresses.addressOf('b'), '10.244.0.3')
  t.equal(addresses.addressOf('a'), '10.244.0.2')
  addresses.release('a')
  t.equal(addresses.addressOf('c'), '10.244.0.2')
  t.equal(addresses.addressOf('d'), '10.244.0.4')
})

t.test('the existing address of a Pod is kept and not assigned to another one', async (t) => {
  const addresses = new PodAddresses()
  t.equal(addresses.addressOf('old', '10.244.0.2'), '10.244.0.2')
  t.equal(addresses.addressOf('new'), '10.244.0.3')
  t.equal(addresses.addressOf('far', '10.244.7.9'), '10.244.7.9')
  t.equal(addresses.addressOf('far', '10.244.7.10'), '10.244.7.9', 'an address that is assigned does not change')
  const invalid = ['10.0.0.4', '10.244.0', 'x10.244.0.9', '10.244.0.9.1', '', 'undefined', '10.244.0.1', '10.244.255.255', '10.244.0.256']
  for (const [index, other] of [...invalid, '10.244.999.999', '10.244.7.9'].entries())
    t.equal(addresses.addressOf(`other ${index}`, other), `10.244.0.${4 + index}`, `${other} is invalid or taken`)
})

t.test('the lowest free address is assigned first', async (t) => {
  const addresses = new PodAddresses()
  for (const name of ['a', 'b', 'c', 'd']) addresses.addressOf(name)
  addresses.release('b')
  addresses.release('d')
  addresses.release('d')
  addresses.release('unknown')
  t.strictSame(
    ['b', 'e', 'f'].map((name) => addresses.addressOf(name)),
    ['10.244.0.3', '10.244.0.5', '10.244.0.6'],
  )
  addresses.release('a')
  t.equal(addresses.addressOf('a', '10.244.0.8'), '10.244.0.8', 'a released address is forgotten')
})

t.test('more than 256 addresses can be assigned', async (t) => {
  const addresses = new PodAddresses()
  const all = new Set(Array.from({ length: 600 }, (_, index) => addresses.addressOf(String(index))))
  t.equal(all.size, 600)
  t.ok(all.has('10.244.2.1'))
})

t.test('the last address is 10.244.255.254', async (t) => {
  const addresses = new PodAddresses()
  const all = Array.from({ length: 0xfffe - 1 }, (_, index) => addresses.addressOf(String(index)))
  t.equal(new Set(all).size, all.length)
  t.strictSame([all[0], all[253], all[254], all.at(-1)], ['10.244.0.2', '10.244.0.255', '10.244.1.0', '10.244.255.254'])
  t.equal(addresses.addressOf('one more'), undefined)
  t.equal(addresses.addressOf('with an address', '10.244.0.7'), undefined)
  addresses.release('77')
  t.equal(addresses.addressOf('another'), '10.244.0.79')
})
