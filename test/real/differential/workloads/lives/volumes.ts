/** The life of a PersistentVolumeClaim and its PersistentVolume: the steps that create, change and delete them. */
import type { JsonObject } from '../../../../../src/api/json.ts'
import { core } from '../../../../../src/api/kubernetes/core.ts'
import type { Life } from '../life.ts'
import { count, has, step } from '../life.ts'
import { template } from './objects.ts'

const size = { storage: '1Gi' }
const common = { accessModes: ['ReadWriteOnce'], storageClassName: 'manual' }
const claim: JsonObject = { metadata: { name: 'data' }, spec: { ...common, resources: { requests: size } } }
const bound = has(core.persistentVolumeClaim, 'data', { 'status.phase': 'Bound' })

export const volumeLives: readonly Life[] = [
  {
    name: 'volumes',
    steps: [
      step('volume', (stage) =>
        stage.create(core.persistentVolume, {
          metadata: { name: `volume-of-${stage.namespace}` },
          spec: {
            ...common,
            capacity: { storage: '2Gi' },
            hostPath: { path: '/data' },
            claimRef: { namespace: stage.namespace, name: 'data' },
          },
        }),
      ),
      step('claim', (stage) => stage.create(core.persistentVolumeClaim, claim), bound),
      step('pod', (stage) => {
        const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }]
        return stage.create(core.pod, { metadata: { name: 'user' }, spec: { ...(template('1').spec as JsonObject), volumes } })
      }),
      step('delete-claim', (stage) => stage.delete(core.persistentVolumeClaim, 'data')),
      step('run', ({ pods }) => pods.run()),
      step('end', ({ pods }) => pods.exit(0)),
      step('delete-pod', (stage) => stage.delete(core.pod, 'user'), count(core.persistentVolumeClaim, 0)),
      step(
        'delete-volume',
        async (stage) => stage.delete(core.persistentVolume, `volume-of-${stage.namespace}`),
        count(core.persistentVolume, 0),
      ),
    ],
  },
]
