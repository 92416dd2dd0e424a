/** Tests of the operator of Memcacheds: its two API groups, and the Pods of its Deployments. */
import t from 'tap'
import type { Test } from 'tap'
import { apps } from '../../../src/api/kubernetes/apps.ts'
import { baselineChecks } from '../../../src/devcluster/admission/pod-security-baseline.ts'
import { restrictedChecks } from '../../../src/devcluster/admission/pod-security-restricted.ts'
import type { Operator } from '../../../src/manager/operator.ts'
import { deploymentFor } from '../../../src/operators/memcached/deployment.ts'
import { memcached, memcachedOfLimingnihao } from '../../../src/operators/memcached/kind.ts'
import { aMemcached } from '../../support/operators/memcached.ts'
import { scriptedController } from '../../support/operators/scripted-controller.ts'

let copies = 0
/** Sets the environment variable MEMCACHED_IMAGE to `image`, and loads the operator. If `image` is undefined, removes the variable. */
async function operatorWith(t: Test, image: string | undefined): Promise<Operator> {
  const set = (value: string | undefined): void => {
    if (value === undefined) delete process.env['MEMCACHED_IMAGE']
    else process.env['MEMCACHED_IMAGE'] = value
  }
  const before = process.env['MEMCACHED_IMAGE']
  t.teardown(() => set(before))
  set(image)
  const module: unknown = await import(`../../../src/operators/memcached/index.ts?copy=${++copies}`)
  return (module as { readonly memcachedOperator: Operator }).memcachedOperator
}

/**
 * Each controller of the operator applies one Deployment for a Memcached. Returns the images of these Deployments, in the order of the
 * controllers.
 */
async function imagesOf(t: Test, operator: Operator): Promise<readonly unknown[]> {
  const images: unknown[] = []
  for (const [index, kind] of [memcached, memcachedOfLimingnihao].entries()) {
    const controller = await scriptedController(t, operator.controllers[index]!)
    await controller.put(kind, aMemcached())
    const { spec } = controller.get(apps.deployment, { namespace: 'test', name: 'a' }) as unknown as apps.Deployment
    images.push(spec?.template.spec?.containers[0]?.image)
  }
  return images
}

t.test('MEMCACHED_IMAGE is the image of the Pods, in both groups', async (t) => {
  const image = 'registry.example.com/memcached:1.6'
  t.strictSame(await imagesOf(t, await operatorWith(t, image)), [image, image])
})

t.test('without MEMCACHED_IMAGE, or with an empty one, the image is that of the guides', async (t) => {
  const image = 'memcached:1.4.36-alpine'
  for (const given of [undefined, '']) t.strictSame(await imagesOf(t, await operatorWith(t, given)), [image, image])
})

t.test('the Pods satisfy the Pod Security level restricted', async (t) => {
  const { spec } = deploymentFor(aMemcached(), 'example.com/memcached:1')
  const violations = [...baselineChecks, ...restrictedChecks].flatMap(({ since }) => since.at(-1)![1](spec.template as never) ?? [])
  t.strictSame(violations, [])
  t.match(spec.template.spec.containers, [{ securityContext: { runAsUser: 1001 } }], 'the image has no user of its own')
})

t.test('memcached listens on the port of the spec, which the container names', async (t) => {
  const containerOf = (containerPort: number) => deploymentFor(aMemcached({ containerPort }), 'image').spec.template.spec.containers[0]!
  t.strictSame(containerOf(11_211).command.slice(4), ['-v'], '11211 is the default of memcached')
  for (const port of [11_210, 11_212]) {
    t.strictSame(containerOf(port).command.slice(4), ['-v', '-p', String(port)])
    t.match(containerOf(port).ports, [{ name: 'memcached', containerPort: port, protocol: 'TCP' }])
  }
})
