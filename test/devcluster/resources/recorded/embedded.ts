/** Sends recorded requests to the embedded API server without HTTP. */
import type { JsonObject } from '../../../../src/api/json.ts'
import { ruleAuthorizer } from '../../../../src/devcluster/access/authorizer.ts'
import { admitAll } from '../../../../src/devcluster/admission/admission.ts'
import { withCertificateChecks } from '../../../../src/devcluster/admission/certificate-admission.ts'
import { withClaimResizeCheck } from '../../../../src/devcluster/admission/claim-resize.ts'
import { withPodSecurity } from '../../../../src/devcluster/admission/pod-security.ts'
import { storedClasses, storedPods } from '../../../../src/devcluster/admission/admission-state.ts'
import { tableOf } from '../../../../src/devcluster/http/table.ts'
import { Registry } from '../../../../src/devcluster/registry/registry.ts'
import type { RequestContext } from '../../../../src/devcluster/apimachinery/request-context.ts'
import { StatusError } from '../../../../src/devcluster/apimachinery/status-error.ts'
import { builtinResources } from '../../../../src/devcluster/resources/builtin/index.ts'
import { Catalog } from '../../../../src/devcluster/resources/catalog.ts'
import { ObjectStore } from '../../../../src/devcluster/storage/object-store.ts'
import { manualClock } from '../../../support/devcluster/registry.ts'
import type { Reply, Request, Send } from './play.ts'

/** Returns a function that sends requests to an empty API server. The clock of the server stands still at `now`. */
export function embeddedServer(now: number): Send {
  const store = new ObjectStore()
  const catalog = new Catalog(builtinResources)
  const authorizer = ruleAuthorizer()
  const forPods = withPodSecurity(admitAll, storedPods(store))
  const admission = withCertificateChecks(withClaimResizeCheck(forPods, storedClasses(store)), authorizer)
  const registry = new Registry({ store, catalog, admission, authorizer, clock: manualClock(now) })
  return async (request) => {
    const warnings = new Set<string>()
    const context: RequestContext = {
      user: { username: 'kubernetes-admin', uid: 'kubernetes-admin', groups: ['system:masters', 'system:authenticated'] },
      dryRun: request.dryRun ?? false,
      fieldManager: '',
      fieldValidation: 'Warn',
      userAgent: 'recorder/1',
      warn: (text) => warnings.add(text),
      signal: new AbortController().signal,
    }
    try {
      const { code, body } = await answer(registry, catalog, request, context, now)
      return { code, body, warnings: [...warnings] }
    } catch (error) {
      if (!(error instanceof StatusError)) throw error
      return { code: error.status.code ?? 0, body: error.status as unknown as JsonObject, warnings: [...warnings] }
    }
  }
}

async function answer(
  registry: Registry,
  catalog: Catalog,
  request: Request,
  context: RequestContext,
  now: number,
): Promise<Omit<Reply, 'warnings'>> {
  const { method, type, namespace, name = '', subresource = '', asTable = false } = request
  const info = catalog.find(type.group ?? '', type.version ?? 'v1', type.plural)
  if (info === undefined) throw new Error(`no type ${type.plural}`)
  const key = { ...(namespace === undefined ? {} : { namespace }), name }
  if (info.deprecationWarning !== undefined) context.warn(info.deprecationWarning)
  // Like a body from the network, the copy has no fields with the value undefined.
  const object = JSON.parse(JSON.stringify(request.body ?? {})) as JsonObject
  const decoded = { object, duplicates: [] }
  if (method === 'POST') {
    const created = await registry.create(info, namespace, decoded, context, ...(subresource === '' ? [] : [name, subresource]))
    return { code: 201, body: created }
  }
  if (method === 'PUT') {
    const { object: updated, created } = await registry.put(info, key, decoded, context, subresource)
    return { code: created ? 201 : 200, body: updated }
  }
  if (method === 'DELETE') return { code: 200, body: (await registry.delete(info, key, object, context)).object }
  const found = registry.get(info, key, subresource)
  return { code: 200, body: asTable ? tableOf(info, [found], {}, { version: 'v1', includeObject: 'None', now }) : found }
}
