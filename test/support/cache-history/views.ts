/** The views of the cache history test. Each view states which objects it contains, and in which form. */
import { configMap } from '../../../src/api/builtin.ts'
import type { ObjectOf, ResourceType } from '../../../src/api/group-version-kind.ts'
import type { KubernetesObject } from '../../../src/api/object.ts'
import { cacheView } from '../../../src/cache/view.ts'

export type ConfigMap = ObjectOf<typeof configMap>

export interface TestedView {
  readonly name: string
  readonly type: ResourceType<KubernetesObject>
  /** The namespaces of the view; undefined for a view of all namespaces of the cache. */
  readonly namespaces?: readonly string[]
  /**
   * Returns true if the object belongs to the view. The function is independent of the selectors and the transform in `type`, because the
   * test checks the cache with this function.
   */
  contains(object: ConfigMap): boolean
  /** Returns the object as the view shows it. */
  form(object: ConfigMap): KubernetesObject
}

/** The value of `data.kind` for which the transform of a view throws. */
export const untransformable = 'untransformable'

function withoutManagedFields({ metadata: { managedFields: _, ...metadata }, ...rest }: ConfigMap): ConfigMap {
  return { ...rest, metadata } as ConfigMap
}

function transform({ apiVersion, kind, metadata, data }: ConfigMap): ConfigMap {
  if (data?.['kind'] === untransformable) throw new Error('The object cannot be transformed.')
  return { apiVersion, kind, metadata, data: { n: data?.['n'] ?? '' } }
}

/**
 * Returns views that together use every option of `cacheView`, and one view of all objects. One of the views contains only objects in the
 * first two `namespaces`.
 */
export function testedViews(namespaces: readonly [string, string, ...string[]]): readonly TestedView[] {
  const [first, second] = namespaces
  const limited = [first, second]
  return [
    { name: 'all objects', type: configMap, contains: () => true, form: withoutManagedFields },
    {
      name: 'with a label',
      type: cacheView(configMap, { labels: { matchLabels: { app: 'web' } } }),
      contains: ({ metadata }) => metadata.labels?.['app'] === 'web',
      form: withoutManagedFields,
    },
    {
      name: 'with labels, in two namespaces',
      type: cacheView(configMap, {
        namespaces: limited,
        labels: { matchExpressions: [{ key: 'tier', operator: 'NotIn', values: ['1'] }] },
      }),
      namespaces: limited,
      contains: ({ metadata }) => metadata.labels?.['tier'] !== '1' && limited.includes(metadata.namespace),
      form: withoutManagedFields,
    },
    {
      name: 'with a name',
      type: cacheView(configMap, { fields: 'metadata.name=object-0', managedFields: true }),
      contains: ({ metadata }) => metadata.name === 'object-0',
      form: (object) => object,
    },
    {
      name: 'only metadata',
      type: cacheView(configMap, { metadataOnly: true }),
      contains: () => true,
      form: (object) => {
        const { apiVersion, kind, metadata } = withoutManagedFields(object)
        return { apiVersion, kind, metadata }
      },
    },
    {
      name: 'transformed',
      type: cacheView(configMap, { transform }),
      contains: ({ data }) => data?.['kind'] !== untransformable,
      form: (object) => transform(withoutManagedFields(object)),
    },
  ]
}
