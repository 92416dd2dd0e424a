/** The life of a Service with its Endpoints and EndpointSlices: the steps that create, change and delete it. */
import type { JsonObject } from '../../../../../src/api/json.ts'
import { core } from '../../../../../src/api/kubernetes/core.ts'
import { apps } from '../../../../../src/api/kubernetes/apps.ts'
import type { Life } from '../life.ts'
import { count, step } from '../life.ts'
import { labels, named, selector, template } from './objects.ts'

const service: JsonObject = {
  metadata: { name: 'web', labels: { part: 'front' } },
  spec: { selector: labels, ports: [{ name: 'http', port: 80, targetPort: 8080 }] },
}

export const serviceLives: readonly Life[] = [
  {
    name: 'service',
    steps: [
      step('create', (stage) => stage.create(core.service, service)),
      step('pods', (stage) => {
        const spec = { replicas: 2, serviceName: 'web', podManagementPolicy: 'Parallel', selector, template: template('1') }
        return stage.create(apps.statefulSet, { metadata: { name: 'db' }, spec })
      }),
      step('start-first', ({ pods }) => pods.start({ where: named('db-0') })),
      step('start-second', ({ pods }) => pods.start({ where: named('db-1') })),
      step('ready', ({ pods }) => pods.setReady(true, { where: named('db-0') })),
      step('all-ready', ({ pods }) => pods.setReady(true, { where: named('db-1') })),
      step('port', (stage) =>
        stage.patch(core.service, 'web', {
          spec: {
            ports: [
              { name: 'http', port: 80, targetPort: 9090 },
              { name: 'https', port: 443 },
            ],
          },
        }),
      ),
      step('labels', (stage) => stage.patch(core.service, 'web', { metadata: { labels: { part: 'back' }, annotations: { note: 'x' } } })),
      step('not-ready', ({ pods }) => pods.setReady(false, { where: named('db-0') })),
      step('publish-all', (stage) => stage.patch(core.service, 'web', { spec: { publishNotReadyAddresses: true } })),
      step('terminate', (stage) => stage.delete(core.pod, 'db-1')),
      step('stop', ({ pods }) => pods.stop()),
      step('remove', ({ pods }) => pods.remove(), count(core.pod, 2)),
      step('headless', (stage) =>
        stage.create(core.service, { metadata: { name: 'db' }, spec: { clusterIP: 'None', selector: labels, ports: [{ port: 5432 }] } }),
      ),
      step('no-selector', (stage) => stage.patch(core.service, 'web', { spec: { selector: { app: 'nothing' } } })),
      step('delete', (stage) => stage.delete(core.service, 'web'), count(core.service, 1)),
    ],
  },
]
