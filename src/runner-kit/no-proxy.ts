/** Returns an environment in which Node, too, takes a name in `no_proxy` for all names below it, as Git, curl and GitHub's toolkit do. */
export function withNoProxyBelow(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const below = (list: string): string =>
    list
      .split(/[\s,]+/)
      .flatMap((name) => (/^[^.*].*[a-z]/i.test(name) ? [name, `.${name}`] : [name]))
      .join(",");
  return Object.fromEntries(
    Object.entries(environment).map(([name, value]) => [
      name,
      value && /^no_proxy$/i.test(name) ? below(value) : value,
    ]),
  );
}
