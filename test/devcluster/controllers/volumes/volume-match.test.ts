import t from 'tap'
import type { Node } from '../../../../src/api/builtin.ts'
import type { Claim, Volume } from '../../../../src/devcluster/controllers/volumes/volume-match.ts'
import { findVolume, mismatch } from '../../../../src/devcluster/controllers/volumes/volume-match.ts'

const claimWith = (spec: object = {}): Claim =>
  ({
    metadata: { namespace: 'a', name: 'data', uid: 'claim' },
    spec: { storageClassName: 'x', accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...spec },
  }) as unknown as Claim

const volumeWith = (
  name: string,
  spec: object = {},
  { labels = {}, phase = 'Available', deletionTimestamp = undefined as string | undefined } = {},
): Volume =>
  ({
    metadata: { name, labels, ...(deletionTimestamp !== undefined && { deletionTimestamp }) },
    spec: { storageClassName: 'x', accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' }, ...spec },
    status: { phase },
  }) as unknown as Volume

const reference = { namespace: 'a', name: 'data' }
const deletionTimestamp = '2026-01-01T00:00:00Z'

t.test('each rule excludes a volume', async (t) => {
  const cases: readonly (readonly [string | undefined, Volume, Claim?])[] = [
    [undefined, volumeWith('v')],
    ['requested PV is too small', volumeWith('v', { capacity: { storage: '1023Mi' } })],
    ['storageClassName does not match', volumeWith('v', { storageClassName: 'y' })],
    ['volumeAttributesClassName does not match', volumeWith('v', { volumeAttributesClassName: 'fast' })],
    ['incompatible volumeMode', volumeWith('v', { volumeMode: 'Block' })],
    ['incompatible accessMode', volumeWith('v'), claimWith({ accessModes: ['ReadWriteOnce', 'ReadWriteMany'] })],
    ['the volume is marked for deletion "v"', volumeWith('v', {}, { deletionTimestamp })],
  ]
  for (const [expected, volume, claim = claimWith()] of cases) {
    t.equal(mismatch(volume, claim), expected)
    t.equal(findVolume(claim, [volume])?.metadata.name, expected === undefined ? 'v' : undefined, expected ?? 'it fits')
  }
  t.equal(findVolume(claimWith(), [volumeWith('v', {}, { phase: 'Released' })]), undefined)
  const selecting = claimWith({ selector: { matchLabels: { disk: 'ssd' } } })
  t.equal(findVolume(selecting, [volumeWith('v'), volumeWith('w', {}, { labels: { disk: 'ssd' } })])?.metadata.name, 'w')
})

t.test('a reserved volume comes first, then one with few access modes, then a small one', async (t) => {
  const large = volumeWith('large', { capacity: { storage: '2Gi' } })
  const small = volumeWith('small', { accessModes: ['ReadWriteOnce', 'ReadOnlyMany'] })
  const reserved = volumeWith('reserved', { claimRef: reference, capacity: { storage: '9Gi' } })
  const others = volumeWith('others', { claimRef: { ...reference, uid: 'other' } })
  const choose = (...volumes: readonly Volume[]): string | undefined => findVolume(claimWith(), volumes)?.metadata.name
  t.equal(choose(small, large, reserved, others), 'reserved')
  t.equal(choose(small, large, others), 'large')
  t.equal(choose(small, volumeWith('b'), volumeWith('a')), 'a')
  t.equal(choose(others), undefined)
  t.equal(findVolume(claimWith(), [small], { onlyReserved: true }), undefined)
  t.equal(findVolume(claimWith(), [reserved], { onlyReserved: true })?.metadata.name, 'reserved')
})

t.test('a volume must be reachable from the node', async (t) => {
  const node = { metadata: { name: 'n', labels: { zone: 'z' } } } as unknown as Node
  const at = (zone: string): Volume =>
    volumeWith(zone, {
      nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'In', values: [zone] }] }] } },
    })
  t.equal(findVolume(claimWith(), [at('y'), at('z')], { node })?.metadata.name, 'z')
  t.equal(findVolume(claimWith(), [at('y')])?.metadata.name, 'y', 'any node')
})
