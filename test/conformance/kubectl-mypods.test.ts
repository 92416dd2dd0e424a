/** Tests of kubectl with MyPods: its output while the operator runs, and its messages for rejected objects. */
import t from 'tap'
import { kubectlAs } from '../support/devcluster/kubectl.ts'
import { namespace, startMyPodWorld } from '../support/mypod/world.ts'
import { needsKubectl } from '../support/process/process.ts'
import { until } from '../../src/testing/until.ts'

const labelValueRule =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
const qualifiedNameRule =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"

const samples: Record<string, string> = {
  'wrong-type':
    'The MyPod "mypod-wrong-type" is invalid: spec.podSpec.containers: Invalid value: "string": spec.podSpec.containers in body must be of type array: "string"\n',
  'missing-containers': 'The MyPod "mypod-missing-containers" is invalid: spec.podSpec.containers: Required value\n',
  'duplicate-containers':
    'The MyPod "mypod-duplicate-containers" is invalid: spec.podSpec.containers[1]: Duplicate value: {"name":"main"}\n',
  'bad-label': `The MyPod "mypod-bad-label" is invalid: spec.podLabels: Invalid value: "my pod!": ${labelValueRule}\n`,
  'unknown-field':
    'Error from server (BadRequest): error when creating "config/samples/invalid/mypod-unknown-field.yaml": MyPod in version "v1" cannot be handled as a MyPod: strict decoding error: unknown field "spec.podLabel"\n',
  'number-for-string':
    'The MyPod "mypod-number-for-string" is invalid: spec.podAnnotations.prometheus.io/port: Invalid value: "integer": spec.podAnnotations.prometheus.io/port in body must be of type string: "integer"\n',
  'proto-key': `The MyPod "mypod-proto-key" is invalid: spec.podLabels: Invalid value: "__proto__": ${qualifiedNameRule}\n`,
  null: 'The MyPod "mypod-null" is invalid: spec.podSpec: Required value\n',
  'empty-spec': 'The MyPod "mypod-empty-spec" is invalid: spec.podSpec: Required value\n',
  'several-errors': `The MyPod "mypod-several-errors" is invalid: 
* spec.podAnnotations.prometheus.io/port: Invalid value: "integer": spec.podAnnotations.prometheus.io/port in body must be of type string: "integer"
* spec.podLabels: Invalid value: "my pod!": ${labelValueRule}
* spec.podLabels[creator]: Forbidden: the label is set by the operator
* spec.podSpec.containers[0].image: Invalid value: "": spec.podSpec.containers[0].image in body should be at least 1 chars long
* spec.podSpec.containers[1].image: Required value
* spec.podSpec.containers[2]: Duplicate value: {"name":"main"}
`,
}

const mypod = (name: string, metadata: string, podSpec: string): string =>
  `{"apiVersion":"harryyann.github.io/v1","kind":"MyPod","metadata":{"name":"${name}","namespace":"${namespace}"${metadata}},"spec":{"podSpec":${podSpec}}}`
const main = '{"name":"main","image":"x"}'

const valid = (name: string, image = 'example.com/pause:1'): string =>
  mypod(name, '', `{"containers":[{"name":"main","image":"${image}"}]}`)
const kind = 'mypod.harryyann.github.io'

t.test('MyPods with kubectl', needsKubectl, async (t) => {
  const { controlPlane, startOperator, whenCollected, podOf } = await startMyPodWorld(t)
  const kubectl = kubectlAs(t, controlPlane.kubeconfig)
  const { ok } = kubectl
  const ns = `-n ${namespace}`
  const collected = whenCollected()
  collected.catch(() => undefined) // the test that awaits `collected` reports the rejection
  await startOperator()

  t.test('are created, listed and watched', async (t) => {
    const watch = kubectl.start(`get mypods ${ns} --watch --output-watch-events`)
    t.equal(await ok('create -f -', valid('shown')), `${kind}/shown created\n`)
    t.equal(await ok(`wait mypod/shown ${ns} --for=condition=Ready --timeout=20s`), `${kind}/shown condition met\n`)
    // The column NODEIP may be empty, because `hostIP` is optional and may be set later than the other fields.
    const columns = async (): Promise<string> => {
      const { podIP = '', hostIP = '' } = (await podOf('shown'))?.status ?? {}
      return `NAME +PHASE +PODIP +NODEIP +AGE\\nshown +Running +${podIP || '-'} +${hostIP} *\\d+s`
    }
    t.match(await ok(`get mypod shown ${ns}`), /^NAME +PHASE +PODIP +AGE\nshown +Running +[\d.]+ +\d+s\n$/)
    await until('its addresses are shown', async () =>
      new RegExp(`^${await columns()}\\n$`).test(await ok(`get mypod shown ${ns} -o wide`)),
    )
    t.match(await ok(`get pod shown ${ns}`), /^NAME +READY +STATUS +RESTARTS +AGE\nshown +1\/1 +Running +0 +\d+s\n$/)
    t.match(await ok(`get mypod shown ${ns} -o yaml`), /^apiVersion: harryyann\.github\.io\/v1\nkind: MyPod\n/)
    await until('the watch has printed the changes', async () => /ADDED +shown [^]*MODIFIED +shown +Running/.test(watch.output()))
  })

  t.test('are described with their events', async (t) => {
    await until('the event is there', async () => /Created/.test(await ok(`events ${ns} --for mypod/shown`)))
    const described = await ok(`describe mypod shown ${ns}`)
    t.match(described, new RegExp(`^Name: +shown\\nNamespace: +${namespace}\\n`))
    t.match(described, /Pod Phase: +Running/)
    t.match(described, /Normal +Created +\S+ +\S+ +pod shown created/)
    t.match(await ok(`events ${ns} --for mypod/shown`), /Normal +Created +MyPod\/shown +pod shown created/)
    t.match(await ok(`describe pod shown ${ns}`), /Controlled By: +MyPod\/shown/)
  })

  t.test('are changed by apply, patch and replace', async (t) => {
    t.equal(await ok('apply -f -', valid('changed')), `${kind}/changed created\n`)
    t.equal(await ok('apply -f -', valid('changed')), `${kind}/changed unchanged\n`)
    t.equal(await ok('apply -f -', valid('changed', 'example.com/pause:2')), `${kind}/changed configured\n`)
    const image = `get pod changed ${ns} -o jsonpath={.spec.containers[0].image}`
    await until('the Pod has the new image', async () => (await kubectl(image)).stdout === 'example.com/pause:2')
    t.equal(await ok(`patch mypod changed ${ns} --type merge -p {"spec":{"podLabels":{"a":"b"}}}`), `${kind}/changed patched\n`)
    const operations = '[{"op":"add","path":"/spec/podLabels/c","value":"d"}]'
    t.equal(await ok(`patch mypod changed ${ns} --type json -p ${operations}`), `${kind}/changed patched\n`)
    await until('the Pod has the labels', async () => (await ok(`get pods ${ns} -l a=b,c=d -o name`)) === 'pod/changed\n')
    const diff = await kubectl('diff -f -', valid('changed', 'example.com/pause:3'))
    t.equal(diff.code, 1)
    t.match(diff.stdout, /^\+ +(?:- )?image: example.com\/pause:3/m)
  })

  t.test('are explained and listed by api-resources', async (t) => {
    const explained = await ok('explain mypod.spec --recursive')
    t.match(explained, /^GROUP: +harryyann\.github\.io\nKIND: +MyPod\nVERSION: +v1\n/)
    t.match(explained, /podAnnotations\t<map\[string\]string>/)
    t.match(explained, /podSpec\t<Object> -required-/)
    t.match(explained, /containers\t<\[\]Object> -required-/)
    t.match(await ok('api-resources --api-group=harryyann.github.io'), /^mypods +harryyann\.github\.io\/v1 +true +MyPod$/m)
  })

  for (const [sample, stderr] of Object.entries(samples)) {
    t.test(sample, async (t) => {
      t.strictSame(await kubectl(`create -f config/samples/invalid/mypod-${sample}.yaml`), { code: 1, stdout: '', stderr })
    })
  }

  t.test('are refused with an annotation that is too large', async (t) => {
    const manifest = mypod('mypod-huge', `,"annotations":{"note":"${'x'.repeat(256 * 1024)}"}`, `{"containers":[${main}]}`)
    t.strictSame(await kubectl('create -f -', manifest), {
      code: 1,
      stdout: '',
      stderr: 'The MyPod "mypod-huge" is invalid: metadata.annotations: Too long: may not be more than 262144 bytes\n',
    })
  })

  t.test('are refused for an invalid Pod, with the fields of the MyPod', async (t) => {
    const podSpec = `{"containers":[{"name":"Main","image":"x","ports":[{"containerPort":70000}]}],"activeDeadlineSeconds":0}`
    const { code, stderr } = await kubectl('create -f -', mypod('mypod-bad-pod', '', podSpec))
    t.equal(code, 1)
    t.match(stderr, /^The MyPod "mypod-bad-pod" is invalid: \n/)
    t.match(stderr, /\* spec\.podSpec\.containers\[0\]\.name: Invalid value: "Main": a lowercase RFC 1123 label must consist of/)
    t.match(
      stderr,
      /\* spec\.podSpec\.containers\[0\]\.ports\[0\]\.containerPort: Invalid value: 70000: must be between 1 and 65535, inclusive/,
    )
    t.match(stderr, /\* spec\.podSpec\.activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive/)
  })

  t.test("are refused with the errors of the schema and of the kind's validation together", async (t) => {
    const manifest = mypod('mypod-both', '', '{"containers":[]}').replace('"spec":{', '"spec":{"podLabels":{"creator":"me"},')
    t.strictSame(
      (await kubectl('create -f -', manifest)).stderr,
      `The MyPod "mypod-both" is invalid: 
* spec.podLabels[creator]: Forbidden: the label is set by the operator
* spec.podSpec.containers: Invalid value: 0: spec.podSpec.containers in body should have at least 1 items
`,
    )
  })

  t.test('are accepted with warnings', async (t) => {
    const { code, stdout, stderr } = await kubectl('create -f -', mypod('mypod-warned', '', `{"hostNetwork":true,"containers":[${main}]}`))
    t.strictSame({ code, stdout }, { code: 0, stdout: 'mypod.harryyann.github.io/mypod-warned created\n' })
    t.equal(stderr, "Warning: spec.podSpec.hostNetwork: shares the node's namespace with the Pod\n")
  })

  t.test('are validated on update like on create, and a refused update changes nothing', async (t) => {
    await ok('create -f -', mypod('mypod-kept', '', `{"containers":[${main}]}`))
    const { code, stderr } = await kubectl(`patch mypod mypod-kept -n test-mypod --type merge -p {"spec":{"podSpec":{"containers":[]}}}`)
    t.equal(code, 1)
    t.equal(
      stderr,
      'The MyPod "mypod-kept" is invalid: spec.podSpec.containers: Invalid value: 0: spec.podSpec.containers in body should have at least 1 items\n',
    )
    t.equal(await ok('get mypod mypod-kept -n test-mypod -o jsonpath={.spec.podSpec.containers[0].name}'), 'main')
  })

  t.test('are deleted with their Pods, or without them', async (t) => {
    await collected
    for (const name of ['gone', 'orphaned']) await ok('create -f -', valid(name))
    await until('their Pods are there', async () => (await kubectl(`get pod gone orphaned ${ns}`)).code === 0)
    t.equal(await ok(`delete mypod gone ${ns}`), `${kind} "gone" deleted from ${namespace} namespace\n`)
    t.equal(
      (await kubectl(`delete mypod gone ${ns}`)).stderr,
      'Error from server (NotFound): mypods.harryyann.github.io "gone" not found\n',
    )
    await until('the Pod is gone', async () => (await kubectl(`get pod gone ${ns}`)).code === 1)
    await ok(`delete mypod orphaned ${ns} --cascade=orphan`)
    t.equal(await ok(`get pod orphaned ${ns} -o jsonpath={.metadata.ownerReferences}`), '')
    await ok(`delete pod orphaned ${ns} --now`)
  })
})
