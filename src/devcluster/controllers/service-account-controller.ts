/** Creates the ServiceAccount `default` in each namespace. */
import { namespace as namespaceType, serviceAccount } from '../../api/builtin.ts'
import type { ControllerDefinition } from '../../controller/builder.ts'
import { defineController } from '../../controller/builder.ts'
import { ignoreRaces, inNamespaces } from './objects-of-namespaces.ts'

const accountName = 'default'

/** Returns the controller that creates the ServiceAccount `default` in each namespace, and creates it again after it is deleted. */
export function serviceAccountController(): ControllerDefinition {
  return defineController(namespaceType, {
    name: 'serviceaccount',
    resyncPeriodMs: 0,
    workers: 2,
    watches: [{ type: serviceAccount, map: inNamespaces(accountName) }],
    async reconcile({ metadata }, { client, cache }) {
      if (metadata.deletionTimestamp !== undefined) return
      const key = { namespace: metadata.name, name: accountName }
      if (cache.get(serviceAccount, key) === undefined) await client.create(serviceAccount, { metadata: key }).catch(ignoreRaces)
    },
  })
}
