import t, { type Test } from 'tap'
import { defaultOptions, optionsFrom } from '../../../src/operators/xxx/options.ts'

const refused = (t: Test, env: Record<string, string>, message: string | RegExp): unknown =>
  t.throws(() => optionsFrom(env), { code: 'PRO_CONFIG_INVALID', message })

t.test('without variables, and with empty ones, nothing of a node is used', async (t) => {
  t.strictSame(optionsFrom({}), defaultOptions)
  const empty = { XXX_BUILD_IMAGE: '', XXX_OUTPUT: '', XXX_OUTPUT_NAMESPACES: '', XXX_NODE_SELECTOR: '' }
  t.strictSame(optionsFrom(empty), defaultOptions)
})

t.test('the variables set image, output and nodes', async (t) => {
  t.equal(optionsFrom({ XXX_BUILD_IMAGE: 'registry.example.com:5000/go@sha256:ab' }).image, 'registry.example.com:5000/go@sha256:ab')
  t.strictSame(optionsFrom({ XXX_OUTPUT: 'emptyDir' }).output, { kind: 'emptyDir' })
  t.strictSame(optionsFrom({ XXX_OUTPUT: 'pvc:programs' }).output, { kind: 'claim', name: 'programs' })
  t.strictSame(optionsFrom({ XXX_OUTPUT: 'hostPath:/opt', XXX_OUTPUT_NAMESPACES: 'builds, tools,builds' }).output, {
    kind: 'hostPath',
    path: '/opt',
    namespaces: ['builds', 'tools'],
  })
  t.strictSame(optionsFrom({ XXX_NODE_SELECTOR: 'disk=ssd,kubernetes.io/os=linux,empty=' }).nodeSelector, {
    disk: 'ssd',
    'kubernetes.io/os': 'linux',
    empty: '',
  })
})

t.test('a variable that is invalid is refused, with its name, its value and what is expected', async (t) => {
  const outputs = ['hostpath:/opt', 'pvc', 'pvc:', 'pvc:A', 'pvc:a/b', 'emptyDir:x', '/opt', ' emptyDir', 'emptyDir\n']
  const folders = [
    'hostPath',
    'hostPath:',
    'hostPath:opt',
    'hostPath:/',
    'hostPath:/opt/',
    'hostPath:/opt/../etc',
    'hostPath:/a b',
    'hostPath:/opt\n',
  ]
  for (const output of [...outputs, ...folders])
    refused(
      t,
      { XXX_OUTPUT: output },
      `The environment variable XXX_OUTPUT is ${JSON.stringify(output)}. Expected: emptyDir, pvc:CLAIM or hostPath:FOLDER, e.g. pvc:programs or hostPath:/opt.`,
    )
  for (const [env, message] of [
    [{ XXX_OUTPUT: 'hostPath:/opt' }, /XXX_OUTPUT_NAMESPACES is "". Expected: the namespaces whose Xxxes may write to \/opt of their node/],
    [{ XXX_OUTPUT: 'hostPath:/opt', XXX_OUTPUT_NAMESPACES: 'a,*' }, /XXX_OUTPUT_NAMESPACES is "\*"\. Expected: names of namespaces/],
    [{ XXX_OUTPUT: 'hostPath:/opt', XXX_OUTPUT_NAMESPACES: 'a,,b' }, /XXX_OUTPUT_NAMESPACES is ""/],
    [
      { XXX_OUTPUT: 'pvc:a', XXX_OUTPUT_NAMESPACES: 'a' },
      /XXX_OUTPUT is "pvc:a"\. Expected: hostPath:FOLDER, because XXX_OUTPUT_NAMESPACES is set/,
    ],
    [{ XXX_NODE_SELECTOR: 'disk' }, /XXX_NODE_SELECTOR is "disk"\. Expected: labels of nodes/],
    [{ XXX_NODE_SELECTOR: 'a=b,a=c' }, /XXX_NODE_SELECTOR is "a=b,a=c"\. Expected: each label only once/],
    [{ XXX_NODE_SELECTOR: 'disk=a b' }, /XXX_NODE_SELECTOR: Invalid value: "a b"/],
    [{ XXX_NODE_SELECTOR: '-=b' }, /XXX_NODE_SELECTOR: Invalid value: "-"/],
    [{ XXX_BUILD_IMAGE: 'golang 1.13' }, /XXX_BUILD_IMAGE is "golang 1\.13"\. Expected: the name of an image/],
  ] as const)
    refused(t, env, message)
})

t.test('the names of namespaces and of a claim are as long as Kubernetes allows', async (t) => {
  const claim = (length: number): Record<string, string> => ({ XXX_OUTPUT: `pvc:${'a'.repeat(length)}` })
  t.match(optionsFrom(claim(253)).output, { kind: 'claim' })
  refused(t, claim(254), /XXX_OUTPUT is "pvc:a/)
  const namespace = (length: number): Record<string, string> => ({
    XXX_OUTPUT: 'hostPath:/opt',
    XXX_OUTPUT_NAMESPACES: 'a'.repeat(length),
  })
  t.match(optionsFrom(namespace(63)).output, { kind: 'hostPath' })
  refused(t, namespace(64), /XXX_OUTPUT_NAMESPACES is "a/)
})
