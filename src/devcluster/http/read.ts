/** Handles GET of an object, a subresource or a collection. */
import type { ObjectKey } from '../../api/object.ts'
import { requestedRevision } from '../registry/verbs/list.ts'
import { unknownResource } from '../apimachinery/status-error.ts'
import type { Exchange } from './exchange.ts'
import { negotiate } from './negotiate.ts'
import type { Presentation } from './present.ts'
import { presentList, presentObject } from './present.ts'
import { respondObject } from './respond.ts'
import type { ResourceRequest, Services } from './services.ts'
import { flag } from './request-info.ts'
import { integer } from './write-options.ts'

/** Returns the key of the requested object. */
export function keyOf({ info, target }: ResourceRequest): ObjectKey {
  return info.namespaced ? { namespace: target.namespace, name: target.name } : { name: target.name }
}

/** Returns the negotiated form of the response, and the data that is needed to convert objects to this form. */
export function presentationOf(exchange: Exchange, { info, target }: ResourceRequest, services: Services, stream = false): Presentation {
  const subresource = target.subresource === '' ? undefined : info.subresources[target.subresource]
  const transformations =
    info.review === undefined && (subresource === undefined || subresource.kind === info.kind || subresource.kind === 'Scale')
  const route = target.verb === 'list' || target.verb === 'watch' ? 'collection' : 'object'
  return {
    info,
    form: negotiate(exchange.request.headers.accept, { transformations, stream, ...(info.custom ? {} : { route }) }),
    includeObject: exchange.query.get('includeObject'),
    now: services.clock.now(),
    jsonText: services.jsonText,
  }
}

export async function getObject(exchange: Exchange, request: ResourceRequest, services: Services): Promise<void> {
  const { info, target } = request
  const presentation = presentationOf(exchange, request, services)
  await services.registry.waitFor(exchange.query.get('resourceVersion') ?? '', exchange.signal)
  const object = await services.registry.read(info, keyOf(request), target.subresource)
  return send(exchange, 200, presentObject(object, presentation), presentation, services)
}

export async function listObjects(exchange: Exchange, request: ResourceRequest, services: Services): Promise<void> {
  const presentation = presentationOf(exchange, request, services)
  const list = await services.registry.readList(request.info, await readOptions(exchange, request, services))
  return send(exchange, 200, presentList(list, presentation), presentation, services)
}

/** Waits until the store has reached the requested resourceVersion. Then resolves with the query parameters that select objects. */
export async function readOptions(exchange: Exchange, request: ResourceRequest, { registry }: Services): Promise<SelectionOptions> {
  const options = listOptions(exchange.query, request)
  const requested = requestedRevision(options)
  await registry.waitFor(requested === undefined ? undefined : String(requested), exchange.signal)
  return options
}

/** Sends an object in the negotiated encoding. */
export function send(
  exchange: Exchange,
  code: number,
  object: ReturnType<typeof presentObject>,
  { form }: Pick<Presentation, 'form'>,
  { jsonText }: Services,
): Promise<void> {
  return respondObject(exchange, code, object, () => jsonText.body(object), form.encoding)
}

/** The query parameters that select objects of a collection. */
export interface SelectionOptions {
  readonly namespace?: string
  readonly labelSelector?: string
  readonly fieldSelector?: string
  readonly limit?: number
  readonly continue?: string
  readonly resourceVersion?: string
  readonly resourceVersionMatch?: string
  readonly sendInitialEvents?: boolean
  readonly timeoutSeconds?: number
}

export function listOptions(query: URLSearchParams, { info, target }: ResourceRequest): SelectionOptions {
  // A cluster-scoped type does not exist below `/namespaces/NAME/`.
  if (!info.namespaced && target.namespace !== '' && info.plural !== 'namespaces') throw unknownResource()
  const text = <Name extends keyof SelectionOptions>(name: Name): { [Key in Name]?: string } => {
    const value = query.get(name)
    return value === null || value === '' ? {} : ({ [name]: value } as { [Key in Name]: string })
  }
  const number = <Name extends keyof SelectionOptions>(name: Name): { [Key in Name]?: number } => {
    const value = query.get(name)
    return value === null || value === '' ? {} : ({ [name]: integer(value) } as { [Key in Name]: number })
  }
  return {
    ...(info.namespaced && target.namespace !== '' ? { namespace: target.namespace } : {}),
    ...text('labelSelector'),
    ...text('fieldSelector'),
    ...text('continue'),
    ...text('resourceVersion'),
    ...text('resourceVersionMatch'),
    ...number('limit'),
    ...number('timeoutSeconds'),
    ...(query.has('sendInitialEvents') ? { sendInitialEvents: flag(query, 'sendInitialEvents') } : {}),
  }
}
