/** Text that tries to become a tag, an attribute or a script of a page, wherever it is shown, and to reorder what follows. */
export const hostileText = `"'><img src=x onerror="alert(1)"></textarea></pre></title></script><script>alert(1)</script><svg onload=alert(1)>\u202e`;
