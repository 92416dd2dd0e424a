import t from 'tap'
import { claimsOf } from '../../../../../src/devcluster/controllers/workloads/stateful-set/claims.ts'
import { hasIdentity, hasStorage, isBeforeUpdate, podOf } from '../../../../../src/devcluster/controllers/workloads/stateful-set/pods.ts'
import { statefulPodWith, statefulSetWith } from '../../../../support/workloads/objects.ts'

const selector = { matchLabels: { app: 'web' } }
const claimed = { selector, volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: { accessModes: ['ReadWriteOnce'] } }] }

t.test('a Pod has its claims as volumes, which replace those of the template', (t) => {
  const volumes = [
    { name: 'data', emptyDir: {} },
    { name: 'other', emptyDir: {} },
  ]
  const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [], volumes, hostname: 'x' } }
  const { metadata, spec } = podOf(statefulSetWith({ ...claimed, serviceName: 'net' }), 3, template, 'web-abc')
  t.match(metadata, { name: 'web-3', generateName: 'web-', namespace: 'ns', ownerReferences: [{ uid: 'set', controller: true }] })
  t.strictSame(metadata.labels, {
    app: 'web',
    'statefulset.kubernetes.io/pod-name': 'web-3',
    'apps.kubernetes.io/pod-index': '3',
    'controller-revision-hash': 'web-abc',
  })
  t.match(spec, { hostname: 'web-3', subdomain: 'net' })
  t.strictSame(spec?.volumes, [
    { name: 'data', persistentVolumeClaim: { claimName: 'data-web-3' } },
    { name: 'other', emptyDir: {} },
  ])
  t.strictSame(podOf(statefulSetWith({}), 0, undefined, 'a').spec, { hostname: 'web-0', subdomain: '' })
  t.end()
})

t.test('a claim has the labels of its template and of the selector', (t) => {
  const template = { metadata: { name: 'data', labels: { app: 'other', disk: 'fast' }, annotations: { a: 'b' } } }
  const [claim] = claimsOf(statefulSetWith({ selector, volumeClaimTemplates: [template] }), 1)
  t.strictSame(claim!.metadata, {
    name: 'data-web-1',
    namespace: 'ns',
    labels: { app: 'web', disk: 'fast' },
    annotations: { a: 'b' },
  })
  t.end()
})

t.test('a Pod without its label or volume is recognized', (t) => {
  const set = statefulSetWith(claimed)
  const pod = statefulPodWith(0)
  const withVolume = (claimName: string) => {
    const volumes = [{ name: 'data', persistentVolumeClaim: { claimName } }]
    return { ...pod, spec: { containers: [], volumes } }
  }
  t.ok(hasIdentity(set, pod))
  t.notOk(hasIdentity(set, { ...pod, metadata: { ...pod.metadata, labels: {} } }))
  t.notOk(hasIdentity(set, { ...pod, metadata: { ...pod.metadata, name: 'web-00' } }))
  t.notOk(hasStorage(set, pod))
  t.notOk(hasStorage(set, withVolume('data-web-1')))
  t.ok(hasStorage(set, withVolume('data-web-0')))
  t.end()
})

t.test('a missing Pod gets the current template below the partition, or while Pods of it are counted', (t) => {
  const counted = { currentReplicas: 2 }
  const cases: readonly (readonly [object, object, readonly boolean[]])[] = [
    [{ type: 'RollingUpdate', rollingUpdate: { partition: 1 } }, counted, [true, false, false]],
    [{ type: 'RollingUpdate', rollingUpdate: {} }, counted, [false, false, false]],
    [{ type: 'RollingUpdate' }, counted, [true, true, false]],
    [{ type: 'RollingUpdate' }, {}, [false, false, false]],
    [{ type: 'OnDelete' }, counted, [false, false, false]],
  ]
  for (const [updateStrategy, status, expected] of cases)
    for (const start of [0, 4]) {
      const set = statefulSetWith({ updateStrategy, ordinals: { start } }, status)
      t.strictSame(
        expected.map((_, index) => isBeforeUpdate(set, start + index)),
        expected,
        JSON.stringify(updateStrategy),
      )
    }
  t.end()
})
