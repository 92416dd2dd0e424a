/** The embedded API server as the real kubectl sees it. */
import t from 'tap'
import type { Test } from 'tap'
import type { JsonObject } from '../../src/api/json.ts'
import type { Kubectl } from '../support/devcluster-kubectl.ts'
import { kubectlOf, startTestCluster } from '../support/devcluster-kubectl.ts'
import { widget, widgetDefinition, widgetVersion } from '../support/devcluster-definitions.ts'
import { needsKubectl } from '../support/process.ts'

const text = (...objects: JsonObject[]): string => objects.map((object) => JSON.stringify(object)).join('\n')

async function start(t: Test): Promise<Kubectl> {
  return kubectlOf(t, await startTestCluster(t))
}

/** With the definition of widgets established. */
async function startWithWidgets(t: Test): Promise<Kubectl> {
  const kubectl = await start(t)
  await kubectl.ok('create -f -', text(widgetDefinition()))
  await kubectl.ok('wait --for=condition=Established crd/widgets.example.com --timeout=10s')
  return kubectl
}

t.test('kubectl against the embedded API server', needsKubectl, async (t) => {
  t.test('defines a type, and works with its objects', async (t) => {
    const kubectl = await start(t)
    t.equal(
      await kubectl.ok('create -f -', text(widgetDefinition())),
      'customresourcedefinition.apiextensions.k8s.io/widgets.example.com created\n',
    )
    t.equal(
      await kubectl.ok('wait --for=condition=Established crd/widgets.example.com --timeout=10s'),
      'customresourcedefinition.apiextensions.k8s.io/widgets.example.com condition met\n',
    )
    t.match(await kubectl.ok('get crd'), /^NAME +CREATED AT\nwidgets.example.com +\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\n$/)
    t.match(await kubectl.ok('api-resources --api-group=example.com'), /^widgets +wd +example.com\/v1 +true +Widget$/m)
    t.equal(await kubectl.ok('create -f -', text(widget('a', { size: 2 }))), 'widget.example.com/a created\n')
    t.match(await kubectl.ok('get widgets'), /^NAME +SIZE +PHASE +AGE\na +2 +\d+s\n$/)
    t.match(await kubectl.ok('get wd -A -o wide'), /^NAMESPACE +NAME +SIZE +PHASE +COLOR +AGE\ndefault +a +2 +red +\d+s\n$/)
    t.match(await kubectl.ok('get all'), /widget.example.com\/a/)
    t.equal(await kubectl.ok('get wd a -o jsonpath={.spec}'), '{"color":"red","size":2}')
    t.equal(await kubectl.ok('get wd -o name --field-selector spec.color=red'), 'widget.example.com/a\n')
    t.equal(await kubectl.ok('get wd -o name --field-selector spec.color=blue'), '')
    t.match(await kubectl.ok('describe wd a'), /Name: +a\nNamespace: +default\n[^]*Spec:\n +Color: +red\n +Size: +2\nEvents: +<none>/)
    t.equal(await kubectl.ok('label wd a x=y'), 'widget.example.com/a labeled\n')
    t.equal(await kubectl.ok('annotate wd a p=q'), 'widget.example.com/a annotated\n')
    t.equal(await kubectl.ok(`patch wd a --type merge -p '{"spec":{"size":5}}'`), 'widget.example.com/a patched\n')
    t.equal(
      await kubectl.ok(`patch wd a --type json -p '[{"op":"replace","path":"/spec/size","value":6}]'`),
      'widget.example.com/a patched\n',
    )
    t.equal(
      await kubectl.ok(`patch wd a --subresource status --type merge -p '{"status":{"phase":"Done"}}'`),
      'widget.example.com/a patched\n',
    )
    t.equal(await kubectl.ok('scale wd a --replicas=7'), 'widget.example.com/a scaled\n')
    t.equal(
      await kubectl.ok(
        'get wd a -o jsonpath={.metadata.labels.x},{.metadata.annotations.p},{.spec.size},{.status.phase},{.metadata.generation}',
      ),
      'y,q,7,Done,4',
    )
    t.equal(await kubectl.ok(`wait --for=jsonpath={.status.phase}=Done wd/a --timeout=10s`), 'widget.example.com/a condition met\n')
    t.equal(await kubectl.ok('delete wd a'), 'widget.example.com "a" deleted\n')
    t.match(await kubectl('get wd a'), { code: 1, stderr: 'Error from server (NotFound): widgets.example.com "a" not found\n' })
  })

  t.test('applies', async (t) => {
    const kubectl = await startWithWidgets(t)
    t.equal(await kubectl.ok('apply -f -', text(widget('a', { size: 1, color: 'blue' }))), 'widget.example.com/a created\n')
    t.equal(await kubectl.ok('apply -f -', text(widget('a', { size: 1, color: 'blue' }))), 'widget.example.com/a unchanged\n')
    t.equal(await kubectl.ok('apply -f -', text(widget('a', { size: 2 }))), 'widget.example.com/a configured\n')
    t.equal(await kubectl.ok('get wd a -o jsonpath={.spec}'), '{"color":"red","size":2}')
    t.equal(await kubectl.ok('apply --server-side -f -', text(widget('b', { size: 1 }))), 'widget.example.com/b serverside-applied\n')
    t.equal(
      await kubectl.ok('apply --server-side -f - --dry-run=server', text(widget('c', { size: 1 }))),
      'widget.example.com/c serverside-applied (server dry run)\n',
    )
    t.equal(await kubectl.ok('get wd -o name'), 'widget.example.com/a\nwidget.example.com/b\n')
    t.match(
      await kubectl.ok(
        'apply -f -',
        text(widgetDefinition({ versions: [widgetVersion, { ...widgetVersion, name: 'v2', storage: false }] })),
      ),
      /configured/,
    )
    t.match(await kubectl.until('get widgets.v2.example.com a -o jsonpath={.apiVersion}', (stdout) => stdout !== ''), 'example.com/v2')
  })

  t.test('says what is wrong with an object', async (t) => {
    const kubectl = await startWithWidgets(t)
    const table: [JsonObject, string][] = [
      [
        widget('a', { size: 0, color: 'green' }),
        'The Widget "a" is invalid: \n* spec.color: Unsupported value: "green": supported values: "red", "blue"\n* spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1\n',
      ],
      [widget('a', {}), 'The Widget "a" is invalid: spec.size: Required value\n'],
      [
        widget('a', { size: 1, foo: 1 }),
        'Error from server (BadRequest): error when creating "STDIN": Widget in version "v1" cannot be handled as a Widget: strict decoding error: unknown field "spec.foo"\n',
      ],
      [
        widgetDefinition({}, { name: 'wrong.example.com' }),
        'The CustomResourceDefinition "wrong.example.com" is invalid: metadata.name: Invalid value: "wrong.example.com": must be spec.names.plural+"."+spec.group\n',
      ],
    ]
    for (const [object, expected] of table)
      t.strictSame(await kubectl('create -f -', text(object)), { code: 1, stdout: '', stderr: expected })
  })

  t.test('runs Pods, and takes them away with their namespace', async (t) => {
    const kubectl = await start(t)
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'p', namespace: 'n' },
      spec: { containers: [{ name: 'main', image: 'example.com/app:1' }] },
    }
    await kubectl.ok('create -f -', text({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'n' } }, pod))
    t.equal(await kubectl.ok('wait --for=condition=Ready pod/p -n n --timeout=10s'), 'pod/p condition met\n')
    t.match(await kubectl.ok('get pods -n n -o wide'), /^p +1\/1 +Running +0 +\d+s +10.244.0.2 +proreus-node +<none> +<none>$/m)
    t.match(
      await kubectl.until('describe pod p -n n', (stdout) => stdout.includes('Started container')),
      /Scheduled +\d+s +default-scheduler +Successfully assigned n\/p to proreus-node/,
    )
    t.match(await kubectl.ok('get nodes -o wide'), /^proreus-node +Ready +<none> +\d+s +v\S+ +10.0.0.1/m)
    t.equal(await kubectl.ok('delete ns n --timeout=20s'), 'namespace "n" deleted\n')
    t.equal(await kubectl.ok('get pods -A'), '')
  })

  t.test('takes a definition away with its objects', async (t) => {
    const kubectl = await startWithWidgets(t)
    await kubectl.ok('create -f -', text(widget('a')))
    t.match(await kubectl.ok('delete crd widgets.example.com --timeout=20s'), /"widgets.example.com" deleted/)
    t.match(await kubectl('get widgets'), {
      code: 1,
      stderr: /the server (doesn't have a resource type|could not find the requested resource)/,
    })
  })
})
