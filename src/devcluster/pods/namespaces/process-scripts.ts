/**
 * The shell scripts that start the processes of containers.
 *
 * The scripts are constants. They read values as lines of file descriptor 3, the control channel (control-channel.ts). No shell interprets
 * a value as a script.
 *
 * The environment of a container is passed in the arguments of env(1), where other users of this machine can see the environment for a
 * moment. A script cannot export the environment instead: a shell changes some variables, such as PWD, and omits variables whose names are
 * not valid in the shell.
 *
 * A script finds its programs in the root folder of this machine, so an image needs to contain only the program of the container. A script
 * may mount the root of the container at `/`, but this mount does not change the root folder of the running script. The last step, `unshare
 * --root`, changes the root folder and starts the program of the container. A process that is started later, for example by exec, enters
 * the container in the same way.
 */

/**
 * Reads a list from the control channel into the positional parameters. If Proreus dies before the end of the list, the shell ends. The
 * lines are:
 *
 * - For each value, a plus sign and the value. Backslashes and newlines in the value are escaped.
 * - At the end of the list, only an equals sign.
 *
 * Each call of `set` copies all parameters, so one call for each value would be slow. The script therefore collects a thousand values in
 * the variables value1, value2 and so on before it calls `set`. The arguments of `eval` contain only the names of variables, so the shell
 * never interprets a value as a script.
 */
const readList = `
set --
count=0 names=
while :; do
  IFS= read -r line <&3 || exit
  case $line in
  =) break ;;
  *\\\\*) value=$(printf '%b.' "\${line#+}") value=\${value%.} ;;
  *) value=\${line#+} ;;
  esac
  count=$((count + 1))
  eval "value$count=\\$value"
  names="$names \\"\\$value$count\\""
  [ "$count" -lt 1000 ] && continue
  eval "set -- \\"\\$@\\" $names"
  count=0 names=
done
eval "set -- \\"\\$@\\" $names"`

/**
 * Reads a command from the control channel, reports the ids of the shell in all PID namespaces, and waits for a line from Proreus. When the
 * line arrives, the command replaces the shell. If Proreus aborts the start, Proreus closes the channel without writing the line, and the
 * shell ends. If the shell ran the command after an aborted start, nothing would end the command. The file mode creation mask is that of
 * container runtimes, not that of Proreus.
 */
const becomeProgram = `
umask 022
${readList}
while read -r key value; do
  [ "$key" != NSpid: ] || echo "started $value" >&3 || exit
done </proc/self/status
IFS= read -r line <&3 || exit
exec "$@" 3<&-`

/** Reports the terminal of the shell. */
const reportTerminal = `
echo "terminal $(tty)" >&3`

/** Mounts /proc. Runs as the first process in the PID namespace of the container. */
const firstProcess = `
mount -i -n -a -T "$PROREUS_FOLDER/proc.fstab" 2>&3 || exit`

/** Mounts the root of the container over the root of this machine. */
const coverRoot = `
mount -i -n --move . / 2>&3 || exit`

/**
 * Mounts the root and the volumes of a container, and enters the root folder. Reads two lists from the control channel: the folders and the
 * files to create for volumes.
 *
 * `containerScript` appends the command that starts the first process of the container. The command ends with the exit code of the first
 * process, or with 128 plus the number of the signal that has killed the first process.
 */
const container = `
umask 022
cd -- "$PROREUS_FOLDER" || exit
read -r pid rest </proc/self/stat
echo "container $pid" >&3
mount -i -n -a -T root.fstab 2>&3 || exit
${readList}
[ $# = 0 ] || mkdir -p -- "$@" 2>&3 || exit
${readList}
for file do
  : >>"$file" || exit
done 2>&3
[ ! -s volumes.fstab ] || mount -i -n -a -T volumes.fstab 2>&3 || exit
cd root || exit`

/** `script` creates a terminal and runs the process in it. Echoing is on, as in every new terminal. */
const inTerminal = `script --quiet --return --flush --echo always --command 'exec sh -c "$PROREUS_PROCESS"' /dev/null`

export interface ProcessScript {
  readonly script: string
  /** The environment that the script needs. */
  readonly environment: Readonly<Record<string, string>>
}

export interface ContainerScriptOptions {
  /** The folder of the container. */
  readonly folder: string
  readonly tty: boolean
  /**
   * True when the process gets a separate user namespace. The script then does not mount the container's root over the root of this
   * machine, because Linux would refuse to create the user namespace after this mount.
   */
  readonly hasUserNamespace: boolean
}

/** Returns the script that makes a container and starts its first process. */
export function containerScript({ folder, tty, hasUserNamespace }: ContainerScriptOptions): ProcessScript {
  const start = tty ? inTerminal : `sh -c 'sh -c "$PROREUS_PROCESS"; exit $?'`
  const steps = [firstProcess, ...(hasUserNamespace ? [] : [coverRoot]), ...(tty ? [reportTerminal] : []), becomeProgram]
  return {
    script: `${container}\nexec unshare --pid ${start}`,
    environment: { PROREUS_FOLDER: folder, PROREUS_PROCESS: steps.join('\n') },
  }
}

/** Returns the script that starts another process in a container. */
export function execScript({ tty }: { readonly tty: boolean }): ProcessScript {
  return {
    script: `exec ${tty ? inTerminal : 'sh -c "$PROREUS_PROCESS"'}`,
    environment: { PROREUS_PROCESS: (tty ? reportTerminal : '') + becomeProgram },
  }
}
